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

/** What a request says that the gateway has to know. */
export interface InferenceFacts {
  /** As its provider knows it. */
  readonly model: string;
  readonly isStream: boolean;
  /** Tokens that each answer may have; absent or undefined: the request has no cap. */
  readonly outputCap?: number | undefined;
  /** The lowest cap that the rest of the request allows. */
  readonly leastOutputCap?: number | undefined;
}

/** What the estimate of a call rests on. */
export interface InferenceCall<Facts extends InferenceFacts = InferenceFacts> {
  readonly facts: Facts;
  /** The body, as the caller sent it. */
  readonly bytes: Buffer;
  /** undefined: unknown. */
  readonly knownModel: ModelFacts | undefined;
  /** Whether the model may write tokens that the answer does not show, or not before its end. */
  readonly hidesReasoning: boolean;
  /** Whether the provider refuses `max_tokens` of a chat. */
  readonly refusesMaxTokens?: boolean;
  /** Whether its answer says what it costs. */
  readonly reportsCost?: boolean;
  /** By how much the texts of its input have fewer tokens than bytes; absent: they were not counted. */
  readonly savedTokens?: number;
  /** Whether a translator gets the answer: as server-sent events, and with the usage that the request does not ask for. */
  readonly isTranslated?: boolean;
}

/** A request in the form of a provider's API, which is relayed as it is. */
export interface RelayedRequest {
  readonly slug: DialectSlug;
  /** For policies and the ledger. */
  readonly endpoint: string;
  /** Behind the path of the dialect, for another operation of it: `/count_tokens`. */
  readonly suffix?: string;
  /** Objects of the provider in the body, in fields of this name at any depth. */
  readonly uses: readonly ObjectReference[];
  /** The members of the body that are read; `model` is one. */
  readonly members: ReadonlySet<string>;
  /** Parameters of the query, besides those of the caller. */
  queryOf?(isStream: boolean): Readonly<Record<string, string>> | undefined;
  /** The body with the name that its provider has for the model, where it stands there besides the path. */
  withModel?(body: Buffer, model: string): Buffer;
  /** The headers of the caller that its provider gets; by default none. */
  headersOf?(headers: IncomingHttpHeaders): Readonly<Record<string, string>>;
}

/**
 * A form of requests and answers. Bodies pass as they are: a dialect reads what limits and the ledger need, and checks nothing
 * else. Pure.
 */
export interface Dialect<Facts extends InferenceFacts = InferenceFacts> extends RelayedRequest {
  /** Units that a call may use although its bound does not name them: caches that the provider keeps by itself, audio, searches. */
  readonly mayUse?: readonly QuantityUnit[];
  /** What an answer makes at the provider, under the `id` of the answer. */
  readonly creates?: ProviderObjectKind;
  /** How the events of a stream are written; absent: as server-sent events. */
  readonly framing?: EventFraming;
  /**
   * @param body of the request, for what stands deeper than its members
   * @throws GatewayError `validation_failed`
   */
  readFacts(members: JsonObject, body: Buffer): Facts;
  /** How the call may be served, where the dialect has members of its own for it. */
  modesOf?(members: JsonObject): readonly PriceMode[];
  estimate(call: InferenceCall<Facts>): UsageEstimate;
  /** The same call with another output cap; absent: its answers take none. */
  withOutputCap?: ((call: InferenceCall<Facts>, cap: number) => InferenceCall<Facts>) | undefined;
  /** The body for the provider: the caller's, but for what the gateway needs in the answer. */
  bodyOf(call: InferenceCall<Facts>): Buffer;
  /** @param onId gets the id of the answer as soon as it has come, where the dialect creates something */
  newMeter(call: InferenceCall<Facts>, onId?: (id: string) => void): StreamMeter;
  /** The event that ends a stream with an error of the gateway. @param answerId of the answer, where its stream has named it */
  toErrorEvent(error: GatewayError, requestId?: string, answerId?: string): string | Buffer;
}
