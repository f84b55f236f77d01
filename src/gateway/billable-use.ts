import type { JsonObject } from '../common/json/read.js';
import type { NanoDollars } from '../common/money/units.js';
import type { UpstreamHead } from '../upstream/upstream.types.js';
import type { PriceMode } from '../usage/prices/price.types.js';
import type { Counts, QuantityUnit } from '../usage/units.js';

/** The most that a call can be billed for, known before it is sent. */
export interface UsageEstimate {
  /** The unit by which the provider bills. */
  readonly unit: QuantityUnit;
  /**
   * The upper bound of each unit that the call can use; 0 when there is none. Tokens are always counted, because limits
   * may be in tokens.
   */
  readonly counts: Counts;
  /** The request field that has no bound. When a limit applies, such a call is refused. */
  readonly unbounded?: string | undefined;
  /**
   * Further units that the call may use: tokens within the bound of its input or output, and other units without a
   * bound.
   */
  readonly mayUse?: readonly QuantityUnit[];
  /** The modes in which the call may be served; default `standard`. The first applies when the answer names none. */
  readonly modes?: readonly PriceMode[];
}

/** The usage that the provider reports. */
export interface ReportedUsage {
  /** Not validated. A unit that the provider does not report is absent or undefined. */
  readonly counts: Counts;
  /** The gateway computed the figures by the provider's rules, because the provider reports none. */
  readonly isComputed?: boolean | undefined;
  /** How the call was served; undefined when the provider does not report it. */
  readonly mode?: PriceMode | undefined;
  /** The cost of the whole call as the provider reports it. Used when the model has no price. */
  readonly cost?: NanoDollars | undefined;
}

/** Facts of an answer other than its content. */
export interface AnswerFacts {
  readonly id?: string | undefined;
  /** The model that answered. */
  readonly model?: string | undefined;
  /** As the provider names it. */
  readonly finishReason?: string | undefined;
}

/** Reads the usage from the bytes of an answer as they pass. One per attempt. */
export interface StreamMeter {
  /** Gets the head of the answer before its bytes, for usage that is in headers. */
  noteHead?(head: UpstreamHead): void;
  /** Returns the bytes to forward: all of them, except what only the gateway asked for. Must not throw. */
  push(chunk: Buffer): Buffer;
  /** Returns the bytes that were held back. Called at the end of the answer. */
  end(): Buffer;
  /** The usage so far. An absent unit is charged at its bound, in particular the input until it is reported. */
  readonly usage: ReportedUsage;
  /** Whether any of the model's output has arrived. */
  readonly hasOutput: boolean;
  /** The facts so far; absent when the meter does not read them. */
  readonly answer?: AnswerFacts;
  /** The error that arrived instead of output, in an answer with a success status. */
  readonly failure?: JsonObject | undefined;
  /** Whether an error has arrived, with or without output before it. */
  readonly hasError?: boolean;
  /** Whether the stream is incomplete: it has no end mark so far. */
  readonly isCutShort?: boolean;
}

/** The room that is left in the usage limits that refuse a call. */
export interface LimitRoom {
  fits(estimate: UsageEstimate): boolean;
  /** The largest output, in tokens of all answers together, with which the estimated call fits. */
  outputFor(estimate: UsageEstimate): number;
}

/** A use of a model that is counted against usage limits. */
export interface MeteredUse {
  /** The endpoint in policies and in the ledger: `rerank`. */
  readonly endpoint: string;
  /** The model as the client requested it. */
  readonly model: string;
  estimate(): UsageEstimate;
  /** Called before a usage limit refuses the call. */
  readonly noteRoom?: ((room: LimitRoom) => void) | undefined;
}

/** A use whose answer is read as a whole. */
export interface BillableUse<Result> extends MeteredUse {
  usageOf(result: Result): ReportedUsage;
}

/** A use whose answer is streamed. */
export interface BillableStream extends MeteredUse {
  newMeter(): StreamMeter;
}
