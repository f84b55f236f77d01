import { GatewayError } from '../../../common/errors/gateway.error.js';
import { isObject, type JsonObject } from '../../../common/json/read.js';
import type { OwnNames } from '../fitted-names.js';
import { toChatRequest } from '../messages-to-chat/chat-request.js';
import { toMessage } from '../messages-to-chat/message-answer.js';
import { MessageStream } from '../messages-to-chat/message-stream.js';
import { TwoStreams } from '../through-messages.js';
import { untranslatable } from '../request-parts.js';
import { toMessageRequest } from '../responses-to-messages/message-request.js';
import { toResponse } from '../responses-to-messages/response-answer.js';
import { ResponseStream } from '../responses-to-messages/response-stream.js';
import type { TranslationTarget, Translation, Translator } from '../translator.types.js';

/** The tools of a response have fitted names as messages. */
const NO_NAMES: OwnNames = new Map();
/** Of messages, which have no other place for them, or none at chats. */
const NOT_FOR_MESSAGES = ['prompt_cache_key', 'user', 'safety_identifier'] as const;

/**
 * Runs clients of OpenAI's Responses API, such as Codex, on models that speak chats alone. The conversation becomes a message
 * first: its blocks are in the order of both.
 */
export const responsesToChat: Translator = {
  name: 'responses-to-chat',
  to: 'openai-chat',
  callersNames: { max_completion_tokens: 'max_output_tokens', messages: 'input' },
  translate(request: JsonObject, target: TranslationTarget): Translation {
    const without = Object.fromEntries(Object.entries(request).filter(([name]) => !isForMessages(name)));
    const message = toMessageRequest(without, target, 'kept');
    const cap = request['max_output_tokens'] ?? undefined;
    const chat = inItsWords(target.provider, () => toChatRequest({ ...message.body, max_tokens: cap }, target));
    const { provider, answerId, now } = target;
    const ofMessage = { provider, answerId, thinks: true, stopSequences: [], ownNames: NO_NAMES };
    const ofResponse = { provider, answerId, now, tools: message.tools, request };
    const wantsJson = wantsJsonObject(request);
    return {
      body: wantsJson ? { ...chat.body, response_format: { type: 'json_object' } } : chat.body,
      leftOut: [
        ...NOT_FOR_MESSAGES.filter((name) => (request[name] ?? null) !== null),
        ...message.leftOut.filter((field) => !(wantsJson && field === 'text.format')),
        ...chat.leftOut.map((field) => field.replace(/^messages\./, 'input.')),
      ],
      toAnswer: (answer) => toResponse(toMessage(answer, ofMessage), ofResponse),
      newStream: () => new TwoStreams(new MessageStream(ofMessage), new ResponseStream(ofResponse)),
    };
  },
};

function isForMessages(name: string): boolean {
  return NOT_FOR_MESSAGES.some((known) => known === name);
}

function wantsJsonObject({ text }: JsonObject): boolean {
  return isObject(text) && isObject(text['format']) && text['format']['type'] === 'json_object';
}

/** The path of a message says nothing to the caller of a response. */
function inItsWords<Result>(provider: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'unsupported_parameter') throw error;
    throw untranslatable('input', 'a part of the conversation (a file at another address)', provider);
  }
}
