import { invalidField } from '../../../common/errors/gateway.error.js';
import { memberText } from '../../../common/json/members.js';
import { isObject, type JsonObject } from '../../../common/json/read.js';
import type { AskedChat } from '../chat-to-messages/chat-answer.js';
import { TwoStreams } from '../through-messages.js';
import {
  STREAM_END,
  type StreamTranslation,
  type Translation,
  type TranslationTarget,
  type Translator,
} from '../translator.types.js';
import { toChatOfResponse } from './chat-of-response.js';
import { ChatOfResponseStream } from './chat-of-response-stream.js';

const INPUT = '"input"';
/** The output caps of a chat, which become the cap of a response. */
const CAPS = ['max_completion_tokens', 'max_tokens'] as const;

/**
 * Whether the body of a chat request has the format of a response. Cursor sends it for some models, and reads an answer
 * of a chat.
 * Source: https://forum.cursor.com/t/153019 and /t/159298, read 2026-11-28.
 */
export function isResponseForChat(body: Buffer): boolean {
  // Most chats do not contain this name, and are not parsed any further.
  if (!body.includes(INPUT)) return false;
  const messages = memberText(body, 'messages')?.toString().trim();
  const hasMessages = messages !== undefined && messages !== 'null' && messages !== '[]';
  return !hasMessages && memberText(body, 'input') !== undefined;
}

/**
 * Translates a response request that arrived at the chat route, and its answer to one of a chat.
 * @param onward for a provider that does not speak responses; undefined when it does
 */
export function responsesForChat(onward: Translator | undefined): Translator {
  return {
    name: 'responses-for-chat',
    to: onward?.to ?? 'openai-responses',
    callersNames: onward?.callersNames ?? {},
    translate(request: JsonObject, target: TranslationTarget): Translation {
      if (request['background'] === true) throw invalidField('background', 'must be false at the address of chats');
      const asked: AskedChat = {
        provider: target.provider,
        answerId: target.answerId,
        now: target.now,
        asksForUsage: isObject(request['stream_options']) && request['stream_options']['include_usage'] === true,
      };
      const body = responseOf(request);
      const { leftOut, ...inner } = onward?.translate(body, target) ?? unchanged(body);
      return {
        body: inner.body,
        leftOut: request['store'] === true ? [...new Set([...leftOut, 'store'])] : leftOut,
        toAnswer: (answer) => toChatOfResponse(inner.toAnswer(answer), asked),
        newStream: () => new TwoStreams(inner.newStream(), new ChatOfResponseStream(asked)),
      };
    },
  };
}

/**
 * Removes the members of chats. Nothing is stored, since a chat is not stored and this response could not be read
 * later.
 */
function responseOf(request: JsonObject): JsonObject {
  const {
    messages: _messages,
    stream_options: _options,
    max_tokens: _older,
    max_completion_tokens: _cap,
    ...body
  } = request;
  const cap = CAPS.map((name) => request[name]).find((value) => (value ?? null) !== null);
  const capped = cap === undefined || (body['max_output_tokens'] ?? null) !== null ? {} : { max_output_tokens: cap };
  return { ...body, ...capped, store: false };
}

function unchanged(body: JsonObject): Translation {
  return { body, leftOut: [], toAnswer: (answer) => answer, newStream: () => SAME_EVENTS };
}

const SAME_EVENTS: StreamTranslation = {
  push: (event) => (event === STREAM_END ? [] : [event]),
  end: () => [],
};
