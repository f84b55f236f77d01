import type { NanoDollars } from '../../common/money/units.js';
import {
  type Counts,
  inputTokensOf,
  isTokenUnit,
  MAX_FIGURE,
  QUANTITY_UNITS,
  type Quantities,
  type QuantityUnit,
} from '../units.js';
import type { UsageFigures } from '../usage-store.types.js';
import { type AppliedRate, NO_RATE, type Price, type PriceMode } from './price.types.js';

const ATTO_PER_NANO = 1_000_000_000n;

/**
 * The units whose price applies to a unit without a price of its own; the first one that has a price. So no token is
 * free when tokens have a price. The last of them is the unit whose bound it shares.
 */
const FALLBACKS: Readonly<Partial<Record<QuantityUnit, readonly QuantityUnit[]>>> = {
  cache_read: ['input'],
  cache_write_5m: ['input'],
  cache_write_1h: ['cache_write_5m', 'input'],
  input_audio: ['input'],
  input_image: ['input'],
  output_audio: ['output'],
  output_image: ['output'],
};

/**
 * The cost of the quantities, rounded once, half up.
 * @param prices at most one for each unit
 */
export function costOf(quantities: Quantities, prices: readonly Price[]): NanoDollars {
  let atto = 0n;
  for (const unit of QUANTITY_UNITS) {
    const quantity = quantities[unit];
    if (quantity !== undefined) atto += quantity * (priceOf(unit, prices)?.price ?? 0n);
  }
  return (atto + ATTO_PER_NANO / 2n) / ATTO_PER_NANO;
}

/**
 * The figures of the quantities. A call counts as one request when requests have a price.
 * @param calls the number of calls in the quantities
 */
export function figuresAt(quantities: Quantities, prices: readonly Price[], calls = 1): UsageFigures {
  let all = quantities;
  for (const { unit } of prices) if (unit === 'request') all = { ...quantities, request: BigInt(calls) };
  return { costNano: believableCost(costOf(all, prices)), quantities: all };
}

export function believableCost(cost: NanoDollars): NanoDollars {
  return cost > MAX_FIGURE ? MAX_FIGURE : cost;
}

/** The parts of a call that its prices depend on. */
export interface BilledCall {
  /** The unit by which the provider bills. */
  readonly unit: QuantityUnit;
  readonly counts: Counts;
}

/** Whether the prices cover the whole cost of a call. */
export function isWhollyPriced(call: BilledCall, prices: readonly Price[]): boolean {
  return unpricedUnit(call, prices) === undefined;
}

/**
 * A unit that lacks a price; undefined when none does. A call that is billed by token needs a price for each unit that
 * it can use, unless its model is sold only by request. Other calls need one price, since they are billed by one unit.
 */
export function unpricedUnit({ unit, counts }: BilledCall, prices: readonly Price[]): QuantityUnit | undefined {
  // With prices of a higher tier only, smaller calls would be free.
  const base = prices.filter(({ mode, minInputTokens }) => mode === 'standard' && minInputTokens === 0);
  if (base.length === 0) return unit;
  if (!isTokenUnit(unit) || base.every((price) => price.unit === 'request')) return undefined;
  const lacksPrice = (used: QuantityUnit): boolean => counts[used] !== undefined && priceOf(used, base) === undefined;
  return lacksPrice(unit) ? unit : QUANTITY_UNITS.find(lacksPrice);
}

/** The unit's own price, or the one of its fallback. */
function priceOf(unit: QuantityUnit, prices: readonly Price[]): Price | undefined {
  for (const price of prices) if (price.unit === unit) return price;
  for (const fallback of FALLBACKS[unit] ?? []) {
    for (const price of prices) if (price.unit === fallback) return price;
  }
  return undefined;
}

/**
 * The prices that apply to a call, one for each unit: of its mode (`standard` when the mode has none), and of the
 * highest tier that its input reaches. The whole call is billed at that tier.
 */
export function pricesThatApply(prices: readonly Price[], mode: PriceMode, quantities: Quantities): readonly Price[] {
  const input = Number(inputTokensOf(quantities));
  const best = new Map<QuantityUnit, Price>();
  for (const price of prices) {
    if (price.minInputTokens > input || (price.mode !== mode && price.mode !== 'standard')) continue;
    const known = best.get(price.unit);
    // The mode takes precedence over the tier.
    const isBetter =
      known === undefined ||
      (price.mode === known.mode ? price.minInputTokens > known.minInputTokens : price.mode === mode);
    if (isBetter) best.set(price.unit, price);
  }
  return [...best.values()];
}

/**
 * For a reservation: the highest prices that can apply to a call of these modes with at most this much input. All units of
 * input share one bound, so the highest of their prices is that of `input`; the same holds for output.
 */
export function highestPrices(
  prices: readonly Price[],
  modes: readonly PriceMode[],
  bound: Quantities,
): readonly Price[] {
  const input = Number(inputTokensOf(bound));
  const dearest = new Map<QuantityUnit, Price>();
  for (const price of prices) {
    if (price.minInputTokens > input) continue;
    const { unit, mode } = price;
    const canApply =
      modes.includes(mode) || (mode === 'standard' && modes.some((wanted) => !hasMode(prices, unit, wanted)));
    const bounded = FALLBACKS[unit]?.at(-1) ?? unit;
    const known = dearest.get(bounded);
    if (canApply && (known === undefined || price.price > known.price))
      dearest.set(bounded, { ...price, unit: bounded });
  }
  return [...dearest.values()];
}

export function rateOf(applied: readonly Price[], mode: PriceMode): AppliedRate {
  if (applied.length === 0) return NO_RATE;
  const priceIds: string[] = [];
  let tier = 0;
  for (const { id, minInputTokens } of applied) {
    priceIds.push(id);
    tier = Math.max(tier, minInputTokens);
  }
  return { mode, tier, priceIds };
}

function hasMode(prices: readonly Price[], unit: QuantityUnit, mode: PriceMode): boolean {
  return prices.some((price) => price.unit === unit && price.mode === mode);
}
