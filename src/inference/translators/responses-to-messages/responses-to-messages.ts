import type { JsonObject } from '../../../common/json/read.js';
import type { TranslationTarget, Translation, Translator } from '../translator.types.js';
import { toMessageRequest } from './message-request.js';
import { toResponse } from './response-answer.js';
import { ResponseStream } from './response-stream.js';

/** Runs clients of OpenAI's Responses API, such as Codex, on models of Anthropic. */
export const responsesToMessages: Translator = {
  name: 'responses-to-messages',
  to: 'anthropic-messages',
  callersNames: {
    max_tokens: 'max_output_tokens',
    messages: 'input',
    metadata: 'user',
    output_config: 'text',
    'tool_choice.disable_parallel_tool_use': 'parallel_tool_calls',
  },
  translate(request: JsonObject, target: TranslationTarget): Translation {
    const { body, leftOut, tools } = toMessageRequest(request, target);
    const asked = { provider: target.provider, answerId: target.answerId, now: target.now, tools, request };
    return {
      body,
      leftOut,
      toAnswer: (message) => toResponse(message, asked),
      newStream: () => new ResponseStream(asked),
    };
  },
};
