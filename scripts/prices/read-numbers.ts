import { parseDecimal } from '../../src/common/money/decimal.js';
import { UnexpectedShapeError } from '../../src/common/json/read.js';
import { MAX_PRICE, PRICE_DECIMALS } from '../../src/usage/prices/price.types.js';

/**
 * Attodollars for one unit, of the text of a number that is for `10^power` units.
 * @throws UnexpectedShapeError also for a price that attodollars cannot hold exactly
 */
export function inAtto(value: unknown, power: number, path: string): bigint {
  const price = typeof value === 'string' ? parseDecimal(value, PRICE_DECIMALS - power) : undefined;
  if (price === undefined || price > MAX_PRICE) throw new UnexpectedShapeError('a price', path);
  return price;
}

/** @throws UnexpectedShapeError */
export function wholeNumber(value: unknown, path: string): number {
  const number = typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : undefined;
  if (number === undefined) throw new UnexpectedShapeError('a whole number', path);
  return number;
}
