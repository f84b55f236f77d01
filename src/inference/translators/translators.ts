import type { JsonObject } from '../../common/json/read.js';
import type { DialectSlug } from '../../upstream/providers/provider.types.js';
import { messagesToChat } from './messages-to-chat/messages-to-chat.js';
import { responsesToChat } from './responses-to-chat/responses-to-chat.js';
import { responsesToMessages } from './responses-to-messages/responses-to-messages.js';
import type { EventForm } from './translated-meter.js';
import type { Translator } from './translator.types.js';

/** By the dialect of the caller; the first whose target the provider speaks is taken. */
const TRANSLATORS: Readonly<Partial<Record<DialectSlug, readonly Translator[]>>> = {
  'anthropic-messages': [messagesToChat],
  'openai-responses': [responsesToChat, responsesToMessages],
};

/** How each dialect of callers writes a stream. */
const FORMS: Readonly<Partial<Record<DialectSlug, EventForm>>> = {
  'anthropic-messages': { toText: namedEvent, endMark: '' },
};

/**
 * The translator for a model whose provider does not speak the dialect of the caller; undefined: there is none.
 * @param speaks whether the provider speaks it
 */
export function translatorFor(dialect: DialectSlug, speaks: (dialect: DialectSlug) => boolean): Translator | undefined {
  return TRANSLATORS[dialect]?.find(({ to }) => speaks(to));
}

export function eventFormOf(dialect: DialectSlug): EventForm {
  return FORMS[dialect] ?? { toText: namedEvent, endMark: '' };
}

/** The SDKs of messages ignore events without a name. */
function namedEvent(event: JsonObject): string {
  return `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`;
}
