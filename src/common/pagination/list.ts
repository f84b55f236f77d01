import type { PageQuery } from './page.query.js';

/** The list envelope of management resources. */
export interface ListOf<Item> {
  readonly object: 'list';
  readonly data: Item[];
  /** Number of items on all pages. */
  readonly total: number;
}

export function toList<Row, Item>(
  [rows, total]: readonly [readonly Row[], number],
  toItem: (row: Row) => Item,
): ListOf<Item> {
  return { object: 'list', data: rows.map(toItem), total };
}

/** A page of a log, which can be too long to be counted. */
export interface LogListOf<Item> {
  readonly object: 'list';
  readonly data: Item[];
  readonly total: number | null;
  readonly has_more: boolean;
}

export function toLogList<Row, Item>(
  {
    rows,
    total,
    hasMore,
  }: { readonly rows: readonly Row[]; readonly total: number | undefined; readonly hasMore: boolean },
  toItem: (row: Row) => Item,
): LogListOf<Item> {
  return { object: 'list', data: rows.map(toItem), total: total ?? null, has_more: hasMore };
}

/** TypeORM's form of a page. */
export function toSkipTake(page: PageQuery): { readonly skip: number; readonly take: number } {
  return { skip: page.current_page * page.page_size, take: page.page_size };
}
