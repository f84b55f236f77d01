import { isObject } from '../../../common/json/read.js';
import { ownNamesOf } from '../fitted-names.js';
import type { Translator } from '../translator.types.js';
import { toChatRequest } from './chat-request.js';
import { toMessage } from './message-answer.js';
import { MessageStream } from './message-stream.js';

/** Runs clients of Anthropic's API, such as Claude Code, on models that offer only chats. */
export const messagesToChat: Translator = {
  name: 'messages-to-chat',
  to: 'openai-chat',
  callersNames: { max_completion_tokens: 'max_tokens' },
  translate(request, target) {
    const { thinking, stop_sequences: stops } = request;
    const asked = {
      provider: target.provider,
      answerId: target.answerId,
      // When the provider accepts earlier reasoning, the caller must receive it to send it back, as with the provider's
      // own Messages API.
      thinks: isObject(thinking) ? thinking['type'] !== 'disabled' : target.reasoningField !== undefined,
      ownNames: ownNamesOf(request['tools']),
      stopSequences: Array.isArray(stops) ? stops : [],
    };
    return {
      ...toChatRequest(request, target),
      toAnswer: (answer) => toMessage(answer, asked),
      newStream: () => new MessageStream(asked),
    };
  },
};
