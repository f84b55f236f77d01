import { invalidField } from '../../common/errors/gateway.error.js';
import { type JsonObject, UnexpectedShapeError } from '../../common/json/read.js';

/** A page of a provider that pages by tokens. */
export interface TokenPage<Item> {
  readonly items: readonly Item[];
  /** Opens the next page; undefined on the last one. */
  readonly nextToken: string | undefined;
}

interface CursorWalk<Item> {
  readonly fetchPage: (token: string | undefined) => Promise<TokenPage<Item>>;
  /** The item that the page begins behind; undefined for the first page. */
  readonly isCursor: ((item: Item) => boolean) | undefined;
  readonly limit: number;
  /** Most provider pages that are read. */
  readonly maxPages: number;
}

export interface CursorPage<Item> {
  readonly items: readonly Item[];
  readonly hasMore: boolean;
}

/**
 * A page behind an item, of a provider that only knows tokens: walks from the start to the item, takes `limit`, and looks
 * one further, so that `hasMore` is right. Nothing is kept between two calls.
 * @throws GatewayError `validation_failed` (`after`) when the item is not among the pages that are read
 */
export async function cursorWalk<Item>(walk: CursorWalk<Item>): Promise<CursorPage<Item>> {
  const { fetchPage, isCursor, limit, maxPages } = walk;
  const found: Item[] = [];
  let passed = isCursor === undefined;
  let token: string | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const { items, nextToken } = await fetchPage(token);
    for (const item of items) {
      if (passed) found.push(item);
      else passed = isCursor?.(item) ?? true;
    }
    if (found.length > limit) return { items: found.slice(0, limit), hasMore: true };
    if (nextToken === undefined) {
      if (!passed) throw invalidField('after', 'must be the id of an item of this list');
      return { items: found, hasMore: false };
    }
    token = nextToken;
  }
  if (!passed) throw invalidField('after', 'is too far down the list to be found');
  throw new UnexpectedShapeError(`at most ${maxPages} pages`, 'the answer');
}

/** The list envelope of provider objects. An empty page has no first and no last id. */
export function toCursorList(data: readonly (JsonObject & { readonly id: string })[], hasMore: boolean): JsonObject {
  return { object: 'list', data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more: hasMore };
}
