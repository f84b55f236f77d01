import { costOf } from '../usage/prices/cost.js';
import type { Price, PricedUnit } from '../usage/prices/price.types.js';
import type { FigureSource, UsageFigures } from '../usage/usage-store.types.js';
import { believableCount, HIGHEST_COUNT } from './believable-count.js';
import type { ReportedUsage, UsageEstimate } from './billable-use.js';

const HIGHEST_COST = BigInt(HIGHEST_COUNT);

const WITHOUT_SEARCH_UNITS: readonly PricedUnit[] = ['input_token', 'request'];
const WITH_SEARCH_UNITS: readonly PricedUnit[] = ['search_unit', ...WITHOUT_SEARCH_UNITS];

export const NOTHING: UsageFigures = { costNano: 0n, tokens: 0n, searchUnits: 0n };

/** What a call costs by its estimate, and how its prices apply. */
export interface CallCost {
  readonly prices: readonly Price[];
  /** Row of the price that decides; null: there is none. */
  readonly priceId: string | null;
  readonly figures: UsageFigures;
  readonly source: FigureSource;
}

/** Of the quantities of an estimate, that of its unit alone can be exact. */
export function costOfEstimate(estimate: UsageEstimate, prices: readonly Price[]): CallCost {
  return {
    prices,
    priceId: decidingPrice(estimate, prices)?.id ?? null,
    figures: toFigures(countOf(estimate.searchUnits) ?? 0n, countOf(estimate.tokens) ?? 0n, prices),
    source:
      estimate.exact && prices.every(({ unit }) => unit === estimate.unit || unit === 'request')
        ? 'computed'
        : 'estimated',
  };
}

/** The provider's figures; where it gives none that can be believed, those of the estimate. */
export function costOfReport(
  reported: ReportedUsage,
  estimate: UsageEstimate,
  { prices, figures, source }: CallCost,
): Pick<CallCost, 'figures' | 'source'> {
  const searchUnits = countOf(reported.searchUnits);
  const tokens = countOf(reported.tokens);
  const unit = decidingPrice(estimate, prices)?.unit ?? estimate.unit;
  const isReported = (unit === 'search_unit' ? searchUnits : tokens) !== undefined && unit !== 'request';
  return {
    figures: toFigures(searchUnits ?? figures.searchUnits, tokens ?? figures.tokens, prices),
    source: isReported && reported.isComputed !== true ? 'provider' : source,
  };
}

/** What a call has a figure of. A price for anything else would make it free. */
export function measuredUnits({ searchUnits }: UsageEstimate): readonly PricedUnit[] {
  return searchUnits > 0 ? WITH_SEARCH_UNITS : WITHOUT_SEARCH_UNITS;
}

function decidingPrice(estimate: UsageEstimate, prices: readonly Price[]): Price | undefined {
  const measured = measuredUnits(estimate);
  return prices.find(({ unit }) => unit === estimate.unit) ?? prices.find(({ unit }) => measured.includes(unit));
}

function toFigures(searchUnits: bigint, tokens: bigint, prices: readonly Price[]): UsageFigures {
  const cost = costOf({ search_unit: searchUnits, input_token: tokens, request: 1n }, prices);
  return { costNano: cost > HIGHEST_COST ? HIGHEST_COST : cost, tokens, searchUnits };
}

function countOf(figure: number | undefined): bigint | undefined {
  const count = believableCount(figure);
  return count === undefined ? undefined : BigInt(count);
}
