import type { JsonObject } from '../../common/json/read.js';
import type { ServerOptions } from '../../upstream/providers/server-options.js';

/** The dialects that requests are translated to. */
export type TranslatedDialect =
  'openai-chat' | 'openai-responses' | 'anthropic-messages' | 'bedrock-converse' | 'gemini';

/** The facts of the provider and the call that a translation needs. */
export interface TranslationTarget {
  readonly provider: string;
  /** The call's model by its name in prices. */
  readonly pricedModel: string;
  /** Whether the provider refuses `max_tokens` in a chat request. */
  readonly refusesMaxTokens: boolean;
  /** The most output tokens of the model; undefined when unknown. */
  readonly maxOutput: number | undefined;
  /** The id for an answer that has none. It consists of letters and digits. */
  readonly answerId: string;
  /** Unix seconds, for answers with a creation time. */
  readonly now: number;
  /** The field of a chat message in which the provider accepts earlier reasoning; undefined when it accepts none. */
  readonly reasoningField?: ServerOptions['reasoning_field'];
  /** Whether the caller accepts reasoning without requesting it. */
  readonly takesThoughts?: boolean;
  /** The values of the header `anthropic-beta`. */
  readonly betas?: readonly string[];
}

/** Stands for the mark `[DONE]`, which ends the stream of a chat. */
export const STREAM_END = 'end';

/** Translates the provider's events to the caller's dialect. One instance per attempt. */
export interface StreamTranslation {
  /** @throws GatewayError when the provider reports an error, or the event cannot be translated */
  push(event: JsonObject | typeof STREAM_END): readonly JsonObject[];
  /** @throws GatewayError when the stream has broken off */
  end(): readonly JsonObject[];
}

/** A request in the provider's dialect, and the translation of its answer. */
export interface Translation {
  readonly body: JsonObject;
  /** The fields that have no equivalent, and are not sent. */
  readonly leftOut: readonly string[];
  /** @throws GatewayError when the answer is an error, or cannot be translated */
  toAnswer(answer: JsonObject): JsonObject;
  newStream(): StreamTranslation;
}

/** Translates requests of one dialect to another, and their answers back. Pure. */
export interface Translator {
  /** The value of the response header: `messages-to-chat`. */
  readonly name: string;
  readonly to: TranslatedDialect;
  /** The caller's names of fields in the translated request, where they differ. */
  readonly callersNames: Readonly<Record<string, string>>;
  /** @throws GatewayError `unsupported_parameter` for what cannot be translated, `validation_failed` */
  translate(body: JsonObject, target: TranslationTarget): Translation;
}
