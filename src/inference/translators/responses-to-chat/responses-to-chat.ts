import { isObject, type JsonObject } from '../../../common/json/read.js';
import type { OwnNames } from '../fitted-names.js';
import { toChatRequest } from '../messages-to-chat/chat-request.js';
import { toMessage } from '../messages-to-chat/message-answer.js';
import { MessageStream } from '../messages-to-chat/message-stream.js';
import { inCallersWords, TwoStreams } from '../through-messages.js';
import { toMessageRequest } from '../responses-to-messages/message-request.js';
import { toResponse } from '../responses-to-messages/response-answer.js';
import { ResponseStream } from '../responses-to-messages/response-stream.js';
import { present } from '../request-parts.js';
import type { TranslationTarget, Translation, Translator } from '../translator.types.js';

/** Empty, since the translation to messages has already fitted the names of tools. */
const NO_NAMES: OwnNames = new Map();
/** Left out: as messages, they would become cache marks and metadata, which chats do not have. */
const NOT_FOR_MESSAGES = ['prompt_cache_key', 'user', 'safety_identifier'] as const;

/**
 * Runs clients of OpenAI's Responses API, such as Codex, on models that offer only chats. The conversation is
 * translated to messages first, whose blocks keep the order of both.
 */
export const responsesToChat: Translator = {
  name: 'responses-to-chat',
  to: 'openai-chat',
  callersNames: { max_completion_tokens: 'max_output_tokens', messages: 'input' },
  translate(request: JsonObject, target: TranslationTarget): Translation {
    const without = Object.fromEntries(Object.entries(request).filter(([name]) => !isForMessages(name)));
    const message = toMessageRequest(without, target, 'kept');
    // Messages have other limits for these fields, so the original values are used.
    const { max_output_tokens: cap, temperature, top_p } = request;
    const own = { max_tokens: cap ?? undefined, temperature, top_p, output_config: undefined };
    const chat = inCallersWords(callersName, () => toChatRequest({ ...message.body, ...own }, target));
    const { provider, answerId, now } = target;
    const ofMessage = { provider, answerId, thinks: true, stopSequences: [], ownNames: NO_NAMES };
    const ofResponse = { provider, answerId, now, tools: message.tools, request };
    const wantsJson = wantsJsonObject(request);
    return {
      body: { ...chat.body, ...formatOf(request) },
      leftOut: [
        ...NOT_FOR_MESSAGES.filter((name) => (request[name] ?? null) !== null),
        ...message.leftOut.filter((field) => !(wantsJson && field === 'text.format') && !(field in own)),
        ...chat.leftOut.map((field) => field.replace(/^messages\./, 'input.')),
      ],
      toAnswer: (answer) => toResponse(toMessage(answer, ofMessage), ofResponse),
      newStream: () => new TwoStreams(new MessageStream(ofMessage), new ResponseStream(ofResponse)),
    };
  },
};

function callersName(field: string): string {
  return field === 'messages' ? 'input' : field;
}

function isForMessages(name: string): boolean {
  return NOT_FOR_MESSAGES.some((known) => known === name);
}

/** Translates the format directly, since chats have all of it and messages do not. */
function formatOf({ text }: JsonObject): JsonObject {
  const format = isObject(text) ? text['format'] : undefined;
  if (!isObject(format) || format['type'] === 'text') return {};
  const { type, name, description, schema, strict } = format;
  if (type !== 'json_schema') return { response_format: { type } };
  return { response_format: { type, json_schema: present({ name, description, schema, strict }) } };
}

function wantsJsonObject({ text }: JsonObject): boolean {
  return isObject(text) && isObject(text['format']) && text['format']['type'] === 'json_object';
}
