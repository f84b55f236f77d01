import type { NanoDollars } from '../../common/money/units.js';
import type { Quantities } from '../units.js';
import type { Price } from './price.types.js';

const ATTO_PER_NANO = 1_000_000_000n;

/** What the quantities cost, rounded once, half up. Units without a price cost nothing. */
export function costOf(quantities: Quantities, prices: readonly Price[]): NanoDollars {
  let atto = 0n;
  for (const { unit, price } of prices) atto += price * (quantities[unit] ?? 0n);
  return (atto + ATTO_PER_NANO / 2n) / ATTO_PER_NANO;
}
