import { stringifyLongNumbers } from '../../common/json/numbers.js';
import type { DialectSlug } from '../../upstream/providers/provider.types.js';
import { chatToGemini } from './chat-to-gemini/chat-to-gemini.js';
import { chatToMessages } from './chat-to-messages/chat-to-messages.js';
import { throughMessages } from './through-messages.js';
import { messagesToChat } from './messages-to-chat/messages-to-chat.js';
import { messagesToConverse } from './messages-to-converse/messages-to-converse.js';
import { responsesToChat } from './responses-to-chat/responses-to-chat.js';
import { responsesToMessages } from './responses-to-messages/responses-to-messages.js';
import type { EventForm } from './translated-meter.js';
import type { Translator } from './translator.types.js';

/** Converse has the blocks of messages, under other names. */
const chatToConverse = throughMessages('chat-to-converse', chatToMessages, messagesToConverse, [
  'max_tokens',
  'max_completion_tokens',
]);
const responsesToConverse = throughMessages('responses-to-converse', responsesToMessages, messagesToConverse, [
  'max_output_tokens',
]);

/** Translators by the caller's dialect. The first one whose target the provider speaks is used. */
const TRANSLATORS: Readonly<Partial<Record<DialectSlug, readonly Translator[]>>> = {
  'anthropic-messages': [messagesToChat, messagesToConverse],
  'openai-chat': [chatToMessages, chatToConverse, chatToGemini],
  'openai-responses': [responsesToChat, responsesToMessages, responsesToConverse],
};

/**
 * The translator for a provider that does not speak the caller's dialect; undefined when there is none.
 * @param speaks whether the provider speaks a dialect
 */
export function translatorFor(dialect: DialectSlug, speaks: (dialect: DialectSlug) => boolean): Translator | undefined {
  return TRANSLATORS[dialect]?.find(({ to }) => speaks(to));
}

/** The format of a dialect's stream events. */
export function eventFormOf(dialect: DialectSlug): EventForm {
  return dialect === 'openai-chat' ? CHUNKS : NAMED_EVENTS;
}

const CHUNKS: EventForm = {
  toText: (chunk) => `data: ${stringifyLongNumbers(chunk)}\n\n`,
  endMark: 'data: [DONE]\n\n',
};

/** The SDKs of messages ignore events without a name. */
const NAMED_EVENTS: EventForm = {
  toText: (event) => `event: ${String(event['type'])}\ndata: ${stringifyLongNumbers(event)}\n\n`,
  endMark: '',
};
