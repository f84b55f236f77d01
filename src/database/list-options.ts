import { And, Equal, FindOperator, In, Raw } from 'typeorm';
import type { ExpirableListQuery, ListQuery } from '../common/pagination/list.query.js';
import { toSkipTake } from '../common/pagination/list.js';
import { fromUnixSeconds } from '../common/time/unix-time.js';
import { containsText } from './rows.js';

export interface ListOrder {
  readonly [property: string]: { readonly direction: 'ASC' | 'DESC'; readonly nulls?: 'LAST' };
}

/** Every row has them. With `NULLS LAST`, PostgreSQL would sort all rows instead of reading an index backwards. */
const NEVER_NULL: ReadonlySet<string> = new Set(['createdAt', 'updatedAt']);

/** TypeORM's form of a page and its order. Rows with equal values have a fixed order. */
export function pageAndOrder(query: ListQuery): {
  readonly order: ListOrder;
  readonly skip: number;
  readonly take: number;
} {
  const isDescending = query.sort.startsWith('-');
  const property = query.sort
    .replace(/^-/, '')
    .replace(/_(\w)/g, (_underscore, letter: string) => letter.toUpperCase());
  const as = { direction: isDescending ? 'DESC' : 'ASC' } as const;
  const first = NEVER_NULL.has(property) ? as : ({ ...as, nulls: 'LAST' } as const);
  return { order: { [property]: first, id: as }, ...toSkipTake(query) };
}

/** Alternatives of a `where`: one for each of the columns that may contain the text. */
export function searched<Column extends string>(
  search: string | undefined,
  columns: readonly Column[],
): readonly Partial<Record<Column, FindOperator<string>>>[] {
  if (search === undefined) return [{}];
  return columns.map((column) => {
    const where: Partial<Record<Column, FindOperator<string>>> = {};
    where[column] = containsText(search);
    return where;
  });
}

/** Both, in every combination of their alternatives. */
export function both<One extends object, Other extends object>(
  ones: readonly One[],
  others: readonly Other[],
): (One & Other)[] {
  return ones.flatMap((one) => others.map((other) => ({ ...other, ...one, ...ofBoth(one, other) })));
}

/** The columns that a filter and a search name both. */
function ofBoth(one: object, other: object): Readonly<Record<string, FindOperator<unknown>>> {
  const conditions = new Map<string, unknown>(Object.entries(one));
  const shared = Object.entries(other).filter(([column]) => conditions.has(column));
  return Object.fromEntries(
    shared.map(([column, value]) => [column, And(toOperator(conditions.get(column)), toOperator(value))]),
  );
}

function toOperator(value: unknown): FindOperator<unknown> {
  return value instanceof FindOperator ? value : Equal(value);
}

/** The condition on `id`; undefined when there is none. @param ids with commas between them */
export function amongIds(ids: string | undefined): FindOperator<string> | undefined {
  return ids === undefined ? undefined : In(ids.split(','));
}

/** The condition on `expires_at`; undefined when there is none. */
export function expiryFilter(
  { status, expires_before: before }: Pick<ExpirableListQuery, 'status' | 'expires_before'>,
  now: Date,
): FindOperator<Date> | undefined {
  const parts: ((column: string) => string)[] = [];
  if (status === 'active') parts.push((column) => `(${column} IS NULL OR ${column} > :expiry_now)`);
  if (status === 'expired') parts.push((column) => `${column} <= :expiry_now`);
  if (before !== undefined) parts.push((column) => `${column} < :expiry_before`);
  if (parts.length === 0) return undefined;
  const parameters = { expiry_now: now, expiry_before: before === undefined ? now : fromUnixSeconds(before) };
  return Raw((column) => parts.map((part) => part(column)).join(' AND '), parameters);
}
