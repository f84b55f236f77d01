import { isObject } from '../../../common/json/read.js';
import type { Translator } from '../translator.types.js';
import { toChatAnswer } from './chat-answer.js';
import { ChatStream } from './chat-stream.js';
import { toMessageRequest } from './message-request.js';

/** Runs clients of OpenAI's Chat Completions API on models of Anthropic. */
export const chatToMessages: Translator = {
  name: 'chat-to-messages',
  to: 'anthropic-messages',
  callersNames: {
    max_tokens: 'max_completion_tokens',
    metadata: 'user',
    output_config: 'response_format',
    'tool_choice.disable_parallel_tool_use': 'parallel_tool_calls',
  },
  translate(request, target) {
    const { provider, answerId, now } = target;
    const { stream_options: options } = request;
    const asksForUsage = isObject(options) && options['include_usage'] === true;
    const asked = { provider, answerId, now, asksForUsage };
    return {
      ...toMessageRequest(request, target),
      toAnswer: (message) => toChatAnswer(message, asked),
      newStream: () => new ChatStream(asked),
    };
  },
};
