import type { NanoDollars } from '../../common/money/units.js';
import { inputTokensOf, type Quantities, type QuantityUnit } from '../units.js';
import { type AppliedRate, NO_RATE, type Price, type PriceMode } from './price.types.js';

const ATTO_PER_NANO = 1_000_000_000n;

/** What the quantities cost, rounded once, half up. Units without a price cost nothing. @param prices one for each unit */
export function costOf(quantities: Quantities, prices: readonly Price[]): NanoDollars {
  let atto = 0n;
  for (const { unit, price } of prices) atto += price * (quantities[unit] ?? 0n);
  return (atto + ATTO_PER_NANO / 2n) / ATTO_PER_NANO;
}

/**
 * Of a model's prices those by which a call is billed, one for each unit: of its mode (`standard` where the mode has none), and
 * of the highest tier that its input reaches. The whole call moves to that tier.
 */
export function pricesThatApply(prices: readonly Price[], mode: PriceMode, quantities: Quantities): readonly Price[] {
  const input = inputTokensOf(quantities);
  const reached = prices.filter(({ minInputTokens }) => BigInt(minInputTokens) <= input);
  return bestOfUnits(
    reached.filter(
      (price) => price.mode === mode || (price.mode === 'standard' && !hasMode(reached, price.unit, mode)),
    ),
    (one, other) => one.minInputTokens > other.minInputTokens,
  );
}

/** For a reservation: of each unit the highest price that can apply to a call of these modes with at most this much input. */
export function dearestPrices(
  prices: readonly Price[],
  modes: readonly PriceMode[],
  bound: Quantities,
): readonly Price[] {
  const input = inputTokensOf(bound);
  return bestOfUnits(
    prices.filter(
      (price) =>
        BigInt(price.minInputTokens) <= input &&
        (modes.includes(price.mode) ||
          (price.mode === 'standard' && modes.some((m) => !hasMode(prices, price.unit, m)))),
    ),
    (one, other) => one.price > other.price,
  );
}

export function rateOf(applied: readonly Price[], mode: PriceMode): AppliedRate {
  if (applied.length === 0) return NO_RATE;
  const tier = applied.reduce((highest, { minInputTokens }) => Math.max(highest, minInputTokens), 0);
  return { mode, tier, priceIds: applied.map(({ id }) => id) };
}

function hasMode(prices: readonly Price[], unit: QuantityUnit, mode: PriceMode): boolean {
  return prices.some((price) => price.unit === unit && price.mode === mode);
}

function bestOfUnits(prices: readonly Price[], isBetter: (one: Price, other: Price) => boolean): readonly Price[] {
  const best = new Map<QuantityUnit, Price>();
  for (const price of prices) {
    const known = best.get(price.unit);
    if (known === undefined || isBetter(price, known)) best.set(price.unit, price);
  }
  return [...best.values()];
}
