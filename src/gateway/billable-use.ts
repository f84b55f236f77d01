import type { PricedUnit } from '../usage/prices/price.types.js';

/** What a call is billed at most, known before it is sent. */
export interface UsageEstimate {
  /** What the provider bills by. */
  readonly unit: PricedUnit;
  /** 0 for providers that do not bill by them. */
  readonly searchUnits: number;
  /** Our own count, whatever the provider bills by: limits may be in tokens. */
  readonly tokens: number;
  /** Whether the figure of `unit` is what the provider will bill. */
  readonly exact: boolean;
}

/** What the provider says that it bills; undefined where it says nothing. */
export interface ReportedUsage {
  readonly searchUnits: number | undefined;
  readonly tokens: number | undefined;
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
