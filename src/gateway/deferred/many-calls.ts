import { highestPrices, figuresAt, isWhollyPriced, pricesThatApply, rateOf } from '../../usage/prices/cost.js';
import type { AppliedRate, Price, PriceMode } from '../../usage/prices/price.types.js';
import {
  addQuantities,
  type Counts,
  INPUT_UNITS,
  isTokenUnit,
  NO_QUANTITIES,
  OUTPUT_UNITS,
  QUANTITY_UNITS,
  type Quantities,
  type QuantityUnit,
} from '../../usage/units.js';
import type { UsageFigures } from '../../usage/usage-store.types.js';
import { believableCount, boundsOf, quantitiesOf } from '../call-cost.js';

/** Calls of a job, all in one mode. */
export interface ManyCalls {
  /** The unit by which the provider bills. */
  readonly unit: QuantityUnit;
  readonly mode: PriceMode;
  /** The quantities of each call. */
  readonly calls: readonly Counts[];
}

export interface ManyCallsCost {
  readonly isPriced: boolean;
  readonly figures: UsageFigures;
  readonly rate: AppliedRate;
}

const NO_PRICES: readonly Price[] = [];

/** The highest cost of the calls. */
export function boundOfCalls({ unit, mode, calls }: ManyCalls, prices: readonly Price[]): ManyCallsCost {
  const isPriced = calls.every((counts) => isWhollyPriced({ unit, counts }, prices));
  const counting = isPriced ? prices : NO_PRICES;
  const sum = sumOfCalls(calls.map(boundsOf), (quantities) => highestPrices(counting, [mode], quantities));
  return { isPriced, figures: sum.figures, rate: rateOf(sum.applied, mode) };
}

/** The cost of the calls by their reports. */
export function costOfCalls({ unit, mode, calls }: ManyCalls, prices: readonly Price[]): ManyCallsCost {
  const isPriced = calls.every((counts) => isWhollyPriced({ unit, counts: usedTokens(counts) }, prices));
  const counting = isPriced ? prices : NO_PRICES;
  const sum = sumOfCalls(calls.map(quantitiesOf), (quantities) => pricesThatApply(counting, mode, quantities));
  return { isPriced, figures: sum.figures, rate: rateOf(sum.applied, mode) };
}

/** The token units other than reported zeros. Neither a zero nor a unit without a price may make the call free. */
function usedTokens(counts: Counts): Counts {
  const used = QUANTITY_UNITS.filter((unit) => isTokenUnit(unit) && counts[unit] !== 0);
  return Object.fromEntries(used.map((unit) => [unit, counts[unit]]));
}

/** Whether the reports cover input and output, as far as the bound has them. */
export function reportAll(calls: readonly Counts[], bound: Quantities): boolean {
  const bounded = [INPUT_UNITS, OUTPUT_UNITS].filter((units) => units.some((unit) => (bound[unit] ?? 0n) > 0n));
  return bounded.every((units) => calls.every((counts) => reportsOneOf(units, counts)));
}

/** An implausible figure does not count as a report. */
function reportsOneOf(units: readonly QuantityUnit[], counts: Counts): boolean {
  const figures = units.flatMap((unit) => counts[unit] ?? []);
  return figures.length > 0 && figures.every((figure) => believableCount(figure) !== undefined);
}

/** Whether the sum of the calls decides their cost. It does not when a price depends on the size of each call. */
export function isSumEnough(prices: readonly Price[]): boolean {
  return prices.every(({ minInputTokens, unit }) => minInputTokens === 0 && unit !== 'request');
}

/** Calls with the same prices. */
interface Group {
  readonly prices: readonly Price[];
  quantities: Quantities;
  calls: number;
}

/**
 * The cost of the calls. Each call counts in the tier of its own input; calls with the same prices are rounded once.
 */
function sumOfCalls(
  calls: readonly Quantities[],
  pricesOf: (quantities: Quantities) => readonly Price[],
): { readonly figures: UsageFigures; readonly applied: readonly Price[] } {
  const groups = new Map<string, Group>();
  for (const quantities of calls) {
    const prices = pricesOf(quantities);
    const key = prices.map(({ id, unit }) => `${id} ${unit}`).join();
    const group = groups.get(key) ?? { prices, quantities: NO_QUANTITIES, calls: 0 };
    group.quantities = addQuantities(group.quantities, quantities);
    group.calls += 1;
    groups.set(key, group);
  }
  let figures: UsageFigures = { costNano: 0n, quantities: NO_QUANTITIES };
  const applied = new Map<string, Price>();
  for (const { prices, quantities, calls: count } of groups.values()) {
    const { costNano, quantities: counted } = figuresAt(quantities, prices, count);
    const all = addQuantities(figures.quantities, counted);
    figures = { costNano: figures.costNano + costNano, quantities: all };
    for (const price of prices) applied.set(price.id, price);
  }
  return { figures, applied: [...applied.values()] };
}
