import { createHash } from 'node:crypto';
import type { BundledPrice } from '../../src/usage/prices/price.types.js';
import type { AgreedModel, AgreedPrice } from './compare.js';

/** Where rows come from, and on which day they were read. */
interface Update {
  readonly agreed: readonly AgreedModel[];
  /** `2026-09-23` */
  readonly day: string;
}

/**
 * The rows of the snapshot, and the new ones. A row never changes, since the ledger names it: another price is another row, from
 * the day of the update, and what a model is no longer sold by ends on that day. Models that the sources no longer agree on, or
 * have no more, keep their rows.
 */
export function mergePrices(known: readonly BundledPrice[], { agreed, day }: Update): readonly BundledPrice[] {
  const today = new Date(`${day}T00:00:00Z`);
  const listed = new Map(agreed.map((model) => [`${model.provider} ${model.model}`, model]));
  const current = new Map<string, BundledPrice>();
  for (const row of known) if (row.effectiveUntil === undefined) current.set(keyOf(row), row);
  const wanted = new Set<string>();
  const added: BundledPrice[] = [];
  for (const { provider, model, from = day, prices } of agreed) {
    for (const price of prices) {
      const key = keyOf({ provider, model, ...price });
      const before = current.get(key);
      wanted.add(key);
      if (before?.price === price.price) continue;
      added.push(rowOf({ provider, model }, price, before === undefined ? from : day, day));
    }
  }
  const kept = known
    // Of the same day: it was never in force.
    .filter((row) => !added.some((other) => keyOf(other) === keyOf(row) && !(other.effectiveFrom > row.effectiveFrom)))
    .map((row) => {
      const isOver = listed.has(`${row.provider} ${row.model}`) && !wanted.has(keyOf(row));
      return isOver && row.effectiveUntil === undefined ? { ...row, effectiveUntil: today } : row;
    });
  return [...kept, ...added].sort(byName);
}

function rowOf(
  { provider, model }: Pick<AgreedModel, 'provider' | 'model'>,
  { unit, mode, minInputTokens, price, sources }: AgreedPrice,
  from: string,
  day: string,
): BundledPrice {
  const row = { provider, model, unit, mode, minInputTokens, price };
  return {
    id: idOf([keyOf(row), from, String(price)].join(' ')),
    ...row,
    effectiveFrom: new Date(`${from}T00:00:00Z`),
    source: sources.join(' and '),
    readOn: day,
  };
}

/** The same for the same row, so that an update that is repeated changes nothing. A UUID of version 8. */
function idOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}

function keyOf(row: Pick<BundledPrice, 'provider' | 'model' | 'unit' | 'mode' | 'minInputTokens'>): string {
  return [row.provider, row.model, row.unit, row.mode, row.minInputTokens].join(' ');
}

function byName(one: BundledPrice, other: BundledPrice): number {
  const [a, b] = [keyOf(one), keyOf(other)];
  if (a !== b) return a < b ? -1 : 1;
  return one.effectiveFrom.getTime() - other.effectiveFrom.getTime();
}
