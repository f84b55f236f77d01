import type { DialectSlug } from '../../upstream/providers/provider.types.js';
import { chatToMessages } from './chat-to-messages/chat-to-messages.js';
import { messagesToChat } from './messages-to-chat/messages-to-chat.js';
import { responsesToChat } from './responses-to-chat/responses-to-chat.js';
import { responsesToMessages } from './responses-to-messages/responses-to-messages.js';
import type { EventForm } from './translated-meter.js';
import type { Translator } from './translator.types.js';

/** By the dialect of the caller; the first whose target the provider speaks is taken. */
const TRANSLATORS: Readonly<Partial<Record<DialectSlug, readonly Translator[]>>> = {
  'anthropic-messages': [messagesToChat],
  'openai-chat': [chatToMessages],
  'openai-responses': [responsesToChat, responsesToMessages],
};

/**
 * The translator for a model whose provider does not speak the dialect of the caller; undefined: there is none.
 * @param speaks whether the provider speaks it
 */
export function translatorFor(dialect: DialectSlug, speaks: (dialect: DialectSlug) => boolean): Translator | undefined {
  return TRANSLATORS[dialect]?.find(({ to }) => speaks(to));
}

/** How a dialect writes the events of a stream. */
export function eventFormOf(dialect: DialectSlug): EventForm {
  return dialect === 'openai-chat' ? CHUNKS : NAMED_EVENTS;
}

const CHUNKS: EventForm = {
  toText: (chunk) => `data: ${JSON.stringify(chunk)}\n\n`,
  endMark: 'data: [DONE]\n\n',
};

/** The SDKs of messages ignore events without a name. */
const NAMED_EVENTS: EventForm = {
  toText: (event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`,
  endMark: '',
};
