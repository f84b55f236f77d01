import { ownNamesOf } from '../fitted-names.js';
import type { Translator } from '../translator.types.js';
import { isOn, toConverseRequest } from './converse-request.js';
import { toMessage } from './message-answer.js';
import { MessageStream } from './message-stream.js';

/** Runs clients of Anthropic's API on any model of Bedrock. */
export const messagesToConverse: Translator = {
  name: 'messages-to-converse',
  to: 'bedrock-converse',
  callersNames: { 'inferenceConfig.maxTokens': 'max_tokens', toolConfig: 'tools' },
  translate(request, target) {
    const { provider, answerId, takesThoughts = false } = target;
    const asked = {
      provider,
      answerId,
      model: request['model'],
      thinks: takesThoughts || isOn(request['thinking']),
      ownNames: ownNamesOf(request['tools']),
    };
    return {
      ...toConverseRequest(request, target),
      toAnswer: (answer) => toMessage(answer, asked),
      newStream: () => new MessageStream(asked),
    };
  },
};
