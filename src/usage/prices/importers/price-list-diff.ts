import type { Price } from '../price.types.js';
import type { ListedPrice } from './price-list.reader.js';

/** A price to compare, for one model, unit and provider. */
export type ComparedPrice = Pick<Price, 'provider' | 'model' | 'unit' | 'price'>;

export interface PriceChange {
  /** undefined for a new price. */
  readonly before: ComparedPrice | undefined;
  readonly after: ListedPrice;
}

export interface Comparison {
  readonly changes: readonly PriceChange[];
  /** The prices of the last import that are missing in this list. */
  readonly vanished: readonly ComparedPrice[];
  readonly unchanged: number;
  /** The reasons why an operator must review the list before it is imported. */
  readonly objections: readonly string[];
}

const MOST_VANISHED_PERCENT = 20;
const LARGEST_FACTOR = 10n;

/**
 * @param inForce the current prices
 * @param imported the names of the prices in the last import of this list
 */
export function compareList(
  list: readonly ListedPrice[],
  inForce: readonly ComparedPrice[],
  imported: readonly string[],
): Comparison {
  const known = new Map(inForce.map((price) => [nameOf(price), price]));
  const listed = new Set(list.map(nameOf));
  const pairs = list.map((after) => ({ before: known.get(nameOf(after)), after }));
  const changes = pairs.filter(({ before, after }) => before?.price !== after.price);
  const gone = imported.filter((name) => !listed.has(name));
  const vanished = gone.map((name) => known.get(name)).filter((price) => price !== undefined);
  const objections = [
    ...(list.length === 0 ? ['the list has no price of a rerank model'] : []),
    ...(gone.length * 100 > imported.length * MOST_VANISHED_PERCENT
      ? [`${gone.length} of the ${imported.length} prices of the last import are gone`]
      : []),
    ...changes.flatMap(({ before, after }) => (before === undefined ? [] : objectionsTo(before, after))),
  ];
  return { changes, vanished, unchanged: list.length - changes.length, objections };
}

function objectionsTo(before: ComparedPrice, after: ListedPrice): readonly string[] {
  const [low, high] = before.price < after.price ? [before.price, after.price] : [after.price, before.price];
  return high > low * LARGEST_FACTOR
    ? [`${after.provider} ${after.model} moves by more than ${LARGEST_FACTOR} times`]
    : [];
}

/** The name by which the next import recognises a price. */
export function nameOf({ provider, model, unit }: Omit<ComparedPrice, 'price'>): string {
  return [provider, model, unit].join(' ');
}
