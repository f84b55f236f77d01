import type { JsonObject } from '../../common/json/read.js';
import type { ServerOptions } from '../../upstream/providers/server-options.js';

/** The dialects that requests are translated to. */
export type TranslatedDialect =
  'openai-chat' | 'openai-responses' | 'anthropic-messages' | 'bedrock-converse' | 'gemini';

/** What a translation has to know of the provider. */
export interface TranslationTarget {
  readonly provider: string;
  /** The model behind the name of the call, as prices know it. */
  readonly pricedModel: string;
  /** Whether it refuses `max_tokens` of a chat. */
  readonly refusesMaxTokens: boolean;
  /** The most that the model writes; undefined: unknown. */
  readonly maxOutput: number | undefined;
  /** For an answer without an id of its own: letters and digits. */
  readonly answerId: string;
  /** Unix seconds, for answers that say when they were made. */
  readonly now: number;
  /** Of a chat, where the provider takes back what its model thought; undefined: nowhere. */
  readonly reasoningField?: ServerOptions['reasoning_field'];
  /** Whether the caller takes what the model thinks without asking for it. */
  readonly takesThoughts?: boolean;
  /** Of the header `anthropic-beta`. */
  readonly betas?: readonly string[];
}

/** The mark `[DONE]`, with which streams of chats end. */
export const STREAM_END = 'end';

/** Makes the events of the caller's dialect from those of the provider's. One for each attempt. */
export interface StreamTranslation {
  /** @throws GatewayError where the provider reports an error, or the event cannot be translated */
  push(event: JsonObject | typeof STREAM_END): readonly JsonObject[];
  /** @throws GatewayError where the stream has broken off */
  end(): readonly JsonObject[];
}

/** One request in the dialect of its provider, and the way back of its answer. */
export interface Translation {
  readonly body: JsonObject;
  /** The fields that have no equivalent, and are not sent. */
  readonly leftOut: readonly string[];
  /** @throws GatewayError where the answer is an error, or cannot be translated */
  toAnswer(answer: JsonObject): JsonObject;
  newStream(): StreamTranslation;
}

/** Translates requests of one dialect to another, and their answers back. Pure. */
export interface Translator {
  /** For the header: `messages-to-chat`. */
  readonly name: string;
  readonly to: TranslatedDialect;
  /** What the caller calls a field of the translated request, where it is another name. */
  readonly callersNames: Readonly<Record<string, string>>;
  /** @throws GatewayError `unsupported_parameter` for what cannot be translated, `validation_failed` */
  translate(body: JsonObject, target: TranslationTarget): Translation;
}
