import { formatDecimal, parseDecimal } from './decimal-text.js';

/**
 * A number of JSON as an integer of `10^-decimals`: `toScaled(0.1, 9)` is 100,000,000n. By its shortest decimal form, the one
 * that its sender wrote, so that no float arithmetic comes in. undefined: negative, or with more decimals than that.
 */
export function toScaled(value: number, decimals: number): bigint | undefined {
  return parseDecimal(String(value), decimals);
}

/** The number that an API shows for an integer of `10^-decimals`. */
export function fromScaled(value: bigint, decimals: number): number {
  return value < 0n ? -fromScaled(-value, decimals) : Number(formatDecimal(value, decimals));
}
