import type { Price } from '../price.types.js';
import type { ListedPrice } from './price-list.reader.js';

/** What is compared: one price for a model, unit and provider. */
export type ComparedPrice = Pick<Price, 'provider' | 'model' | 'unit' | 'price'>;

export interface PriceChange {
  /** undefined: there was none. */
  readonly before: ComparedPrice | undefined;
  readonly after: ListedPrice;
}

export interface Comparison {
  readonly changes: readonly PriceChange[];
  /** In this list the last time, and not any more. */
  readonly vanished: readonly ComparedPrice[];
  readonly unchanged: number;
  /** Why the list is not taken over before somebody has looked at it. */
  readonly objections: readonly string[];
}

const MOST_VANISHED_PERCENT = 20;
const LARGEST_FACTOR = 10n;

/** @param inForce the prices that count now  @param imported those of them that came from this list */
export function compareList(
  list: readonly ListedPrice[],
  inForce: readonly ComparedPrice[],
  imported: readonly ComparedPrice[],
): Comparison {
  const known = new Map(inForce.map((price) => [keyOf(price), price]));
  const listed = new Set(list.map(keyOf));
  const pairs = list.map((after) => ({ before: known.get(keyOf(after)), after }));
  const changes = pairs.filter(({ before, after }) => before?.price !== after.price);
  const vanished = imported.filter((price) => !listed.has(keyOf(price)));
  const objections = [
    ...(list.length === 0 ? ['the list has no price of a rerank model'] : []),
    ...(vanished.length * 100 > imported.length * MOST_VANISHED_PERCENT
      ? [`${vanished.length} of the ${imported.length} prices of the last import are gone`]
      : []),
    ...changes.flatMap(({ before, after }) => (before === undefined ? [] : objectionsTo(before, after))),
  ];
  return { changes, vanished, unchanged: list.length - changes.length, objections };
}

function objectionsTo(before: ComparedPrice, after: ListedPrice): readonly string[] {
  const name = `${after.provider} ${after.model}`;
  if (after.price === 0n) return [`${name} would cost nothing`];
  const [low, high] = before.price < after.price ? [before.price, after.price] : [after.price, before.price];
  return high > low * LARGEST_FACTOR ? [`${name} moves by more than ${LARGEST_FACTOR} times`] : [];
}

function keyOf({ provider, model, unit }: ComparedPrice): string {
  return [provider, model, unit].join(' ');
}
