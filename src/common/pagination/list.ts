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

/** TypeORM's form of a page. */
export function toSkipTake(page: PageQuery): { readonly skip: number; readonly take: number } {
  return { skip: page.current_page * page.page_size, take: page.page_size };
}
