import { isObject } from '../../../common/json/read.js';
import { ownNamesOf } from '../fitted-names.js';
import type { Translator } from '../translator.types.js';
import { toChatAnswer } from './chat-answer.js';
import { ChatStream } from './chat-stream.js';
import { toGeminiRequest } from './gemini-request.js';

/** Runs clients of OpenAI's Chat Completions API on Gemini's own API. */
export const chatToGemini: Translator = {
  name: 'chat-to-gemini',
  to: 'gemini',
  callersNames: { 'generationConfig.maxOutputTokens': 'max_completion_tokens', contents: 'messages' },
  translate(request, target) {
    const { provider, answerId, now } = target;
    const { stream_options: options, tools } = request;
    const functions = (Array.isArray(tools) ? tools : []).map((tool) =>
      isObject(tool) ? tool['function'] : undefined,
    );
    const asked = {
      provider,
      answerId,
      now,
      asksForUsage: isObject(options) && options['include_usage'] === true,
      ownNames: ownNamesOf(functions),
    };
    return {
      ...toGeminiRequest(request, target),
      toAnswer: (answer) => toChatAnswer(answer, asked),
      newStream: () => new ChatStream(asked),
    };
  },
};
