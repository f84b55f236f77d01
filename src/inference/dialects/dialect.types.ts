import type { IncomingHttpHeaders } from 'node:http';
import type { GatewayError } from '../../common/errors/gateway.error.js';
import type { JsonObject } from '../../common/json/read.js';
import type { StreamMeter, UsageEstimate } from '../../gateway/billable-use.js';
import type { ObjectReference, ProviderObjectKind } from '../../gateway/relay/relay-route.js';
import type { EventFraming } from '../../upstream/event-framing.js';
import type { DialectSlug } from '../../upstream/providers/provider.types.js';
import type { PriceMode } from '../../usage/prices/price.types.js';
import type { QuantityUnit } from '../../usage/units.js';
import type { ModelFacts } from '../../usage/models/model-facts.js';

/** The facts of a request that the gateway needs. */
export interface InferenceFacts {
  /** By the provider's name. */
  readonly model: string;
  readonly isStream: boolean;
  /** The most tokens of each answer; absent or undefined without a cap. */
  readonly outputCap?: number | undefined;
  /** The lowest cap that the rest of the request allows. */
  readonly leastOutputCap?: number | undefined;
}

/** The input of a call's estimate. */
export interface InferenceCall<Facts extends InferenceFacts = InferenceFacts> {
  readonly facts: Facts;
  /** The body, as the caller sent it. */
  readonly bytes: Buffer;
  /** undefined for an unknown model. */
  readonly knownModel: ModelFacts | undefined;
  /** Whether the model may write tokens that the answer never shows, or shows only at its end. */
  readonly hidesReasoning: boolean;
  /** Whether the provider refuses `max_tokens` in a chat request. */
  readonly refusesMaxTokens?: boolean;
  /** Whether the answer reports its cost. */
  readonly reportsCost?: boolean;
  /** The bytes of the input's texts minus their tokens; absent when the tokens were not counted. */
  readonly savedTokens?: number;
  /**
   * Whether a translator reads the answer. It needs server-sent events, and the usage even if the request does not ask
   * for it.
   */
  readonly isTranslated?: boolean;
}

/** A request in the format of a provider's API, which is relayed unchanged. */
export interface RelayedRequest {
  readonly slug: DialectSlug;
  /** The name of the endpoint in policies and in the ledger. */
  readonly endpoint: string;
  /** Appended to the path of the dialect, for another operation: `/count_tokens`. */
  readonly suffix?: string;
  /** The fields of the body that name objects of the provider, at any depth. */
  readonly uses: readonly ObjectReference[];
  /** The members of the body that the gateway reads. */
  readonly members: ReadonlySet<string>;
  /** Query parameters, besides those of the caller. */
  queryOf?(isStream: boolean): Readonly<Record<string, string>> | undefined;
  /** Writes the provider's name of the model into the body, for APIs that have it there besides the path. */
  withModel?(body: Buffer, model: string): Buffer;
  /** The caller's headers that are forwarded to the provider; by default none. */
  headersOf?(headers: IncomingHttpHeaders): Readonly<Record<string, string>>;
}

/**
 * A format of requests and answers. Bodies are forwarded unchanged: a dialect reads only what limits and the ledger
 * need, and validates nothing else. Pure.
 */
export interface Dialect<Facts extends InferenceFacts = InferenceFacts> extends RelayedRequest {
  /**
   * Units that a call may use although its bound does not name them: automatic caches of the provider, audio, searches.
   */
  readonly mayUse?: readonly QuantityUnit[];
  /** The kind of object that an answer creates at the provider, under the answer's `id`. */
  readonly creates?: ProviderObjectKind;
  /** The framing of a stream's events; absent for server-sent events. */
  readonly framing?: EventFraming;
  /**
   * @param body the request's body, for fields below its members
   * @throws GatewayError `validation_failed`
   */
  readFacts(members: JsonObject, body: Buffer): Facts;
  /** The modes in which the call may be served, for a dialect with its own members for them. */
  modesOf?(members: JsonObject): readonly PriceMode[];
  estimate(call: InferenceCall<Facts>): UsageEstimate;
  /** Returns the call with another output cap; absent when answers of the dialect cannot be capped. */
  withOutputCap?: ((call: InferenceCall<Facts>, cap: number) => InferenceCall<Facts>) | undefined;
  /** The body for the provider: the caller's, plus what makes the answer report its usage. */
  bodyOf(call: InferenceCall<Facts>): Buffer;
  /** @param onId receives the id of the answer on arrival, when the dialect creates an object */
  newMeter(call: InferenceCall<Facts>, onId?: (id: string) => void): StreamMeter;
  /**
   * The event that ends a stream with an error of the gateway.
   * @param answerId the id of the answer, once its stream has named it
   */
  toErrorEvent(error: GatewayError, requestId?: string, answerId?: string): string | Buffer;
}
