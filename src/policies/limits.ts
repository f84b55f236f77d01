import { fromScaled, toScaled } from '../common/money/decimal.js';
import type { UsageUnit } from '../common/money/units.js';
import { MAX_COUNT } from '../usage/usage-work.js';

/** Decimals of the counted unit: billionths of a dollar, or whole tokens. */
const DECIMALS: Readonly<Record<UsageUnit, number>> = { cost: 9, tokens: 0 };

/** Converts an amount of the API to the counted unit; undefined when it has too many decimals. */
export function toUnits(type: UsageUnit, amount: number): bigint | undefined {
  const units = toScaled(amount, DECIMALS[type]);
  return units !== undefined && units > MAX_COUNT ? MAX_COUNT : units;
}

export function decimalsOf(type: UsageUnit): number {
  return DECIMALS[type];
}

/** Converts a counted amount to an amount of the API. */
export function fromUnits(type: UsageUnit, units: bigint): number {
  return fromScaled(units, DECIMALS[type]);
}

/** Part of error messages. */
export function precisionOf(type: UsageUnit): string {
  return type === 'cost' ? 'have at most 9 decimals' : 'be a whole number of tokens';
}
