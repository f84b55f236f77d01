import type { Counts, QuantityUnit } from '../usage/units.js';

/** What a call is billed at most, known before it is sent. */
export interface UsageEstimate {
  /** What the provider bills by. */
  readonly unit: QuantityUnit;
  /** The bound of each unit that the call has. Tokens are counted whatever the provider bills by: limits may be in tokens. */
  readonly counts: Counts;
  /** Whether the figure of `unit` is what the provider will bill. */
  readonly exact: boolean;
}

/** What the provider says that it bills. */
export interface ReportedUsage {
  /** Unchecked; a unit that the provider does not report is absent or undefined. */
  readonly counts: Counts;
  /** The figures are ours, by the provider's rules: it reports none. */
  readonly isComputed?: boolean | undefined;
}

/** A use of a model that costs money, or tokens that are counted. */
export interface BillableUse<Result> {
  /** For policies and the ledger: `rerank`. */
  readonly endpoint: string;
  /** As requested. */
  readonly model: string;
  estimate(): UsageEstimate;
  usageOf(result: Result): ReportedUsage;
}
