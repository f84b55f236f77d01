import type { ModelFacts } from '../../src/usage/models/model-facts.js';
import type { PriceMode, PricedUnit } from '../../src/usage/prices/price.types.js';

export type SourceName = 'models.dev' | 'genai-prices';

/** A price as a source states it, and so far no more than its opinion. */
export interface SourcePrice {
  readonly unit: PricedUnit;
  readonly mode: PriceMode;
  readonly minInputTokens: number;
  /** Attodollars for one unit. */
  readonly price: bigint;
}

export interface SourceModel {
  readonly id: string;
  readonly prices: readonly SourcePrice[];
  /** Prices that the gateway has no unit, mode or date for, each as the source names it. */
  readonly notUnderstood: readonly string[];
  /** The day from which the prices count, where the source has one: `2026-09-01`. */
  readonly from?: string;
  readonly facts?: Pick<ModelFacts, 'contextWindow' | 'maxOutput' | 'inputModalities' | 'outputModalities'>;
}

/** The models of one provider in one source. */
export interface SourceProvider {
  readonly models: readonly SourceModel[];
  /** The source's entry for a name: some know a model by a pattern. */
  find(name: string): SourceModel | undefined;
}
