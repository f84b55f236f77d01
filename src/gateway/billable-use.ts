import type { JsonObject } from '../common/json/read.js';
import type { NanoDollars } from '../common/money/units.js';
import type { UpstreamHead } from '../upstream/upstream.types.js';
import type { PriceMode } from '../usage/prices/price.types.js';
import type { Counts, QuantityUnit } from '../usage/units.js';

/** What a call is billed at most, known before it is sent. */
export interface UsageEstimate {
  /** What the provider bills by. */
  readonly unit: QuantityUnit;
  /**
   * The bound of each unit that the call has, 0 where there is none. Tokens are counted whatever the provider bills by: limits may
   * be in tokens.
   */
  readonly counts: Counts;
  /** The field of the request for which there is no bound: a call that a limit applies to is refused. */
  readonly unbounded?: string | undefined;
  /** Units that the call may use besides: of tokens, within the bound of its input or output, and others without one. */
  readonly mayUse?: readonly QuantityUnit[];
  /** The modes in which the call may be served; the first counts where the answer says none. Absent: the standard one. */
  readonly modes?: readonly PriceMode[];
}

/** What the provider says that it bills. */
export interface ReportedUsage {
  /** Unchecked; a unit that the provider does not report is absent or undefined. */
  readonly counts: Counts;
  /** The figures are ours, by the provider's rules: it reports none. */
  readonly isComputed?: boolean | undefined;
  /** How the call was served; undefined: the provider does not say it. */
  readonly mode?: PriceMode | undefined;
  /** What the provider says that the whole call cost. It counts where the model has no price. */
  readonly cost?: NanoDollars | undefined;
}

/** What an answer says about itself besides its content. */
export interface AnswerFacts {
  readonly id?: string | undefined;
  /** That has answered. */
  readonly model?: string | undefined;
  /** In the words of the provider. */
  readonly finishReason?: string | undefined;
}

/** Counts what an answer costs, from its bytes as they pass. One for each attempt. */
export interface StreamMeter {
  /** Gets the head of the answer before its bytes, where some of what it costs stands there. */
  noteHead?(head: UpstreamHead): void;
  /** What goes on of what has come: all of it, but for what only the gateway asked for. Must not throw. */
  push(chunk: Buffer): Buffer;
  /** What it has held back, at the end of the answer. */
  end(): Buffer;
  /** What has come so far. A unit that is absent is charged with its bound, in particular the input before it is reported. */
  readonly usage: ReportedUsage;
  /** Whether some of the model's output has come. */
  readonly hasOutput: boolean;
  /** What has come so far; absent where the meter does not read it. */
  readonly answer?: AnswerFacts;
  /** The error that came instead of output, in an answer with the status of a success. */
  readonly failure?: JsonObject | undefined;
  /** Whether an error has come, with or without output before it. */
  readonly hasError?: boolean;
  /** Whether what has come of a stream is not all of it: nothing in it says that it has ended. */
  readonly isCutShort?: boolean;
}

/** What the usage limits that refuse a call have room for at this moment. */
export interface LimitRoom {
  fits(estimate: UsageEstimate): boolean;
  /** The most output with which a call fits that is otherwise as estimated. Of all its answers, in tokens. */
  outputFor(estimate: UsageEstimate): number;
}

/** A use of a model that costs money, or tokens that are counted. */
export interface MeteredUse {
  /** For policies and the ledger: `rerank`. */
  readonly endpoint: string;
  /** As requested. */
  readonly model: string;
  estimate(): UsageEstimate;
  /** Gets what the usage limits have room for, before they refuse the call. */
  readonly noteRoom?: ((room: LimitRoom) => void) | undefined;
}

/** A use whose answer is read whole. */
export interface BillableUse<Result> extends MeteredUse {
  usageOf(result: Result): ReportedUsage;
}

/** A use whose answer passes as a stream. */
export interface BillableStream extends MeteredUse {
  newMeter(): StreamMeter;
}
