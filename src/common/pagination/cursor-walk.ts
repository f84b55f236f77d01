import { invalidField } from '../errors/gateway.error.js';
import { type JsonObject, UnexpectedShapeError } from '../json/read.js';

/** A page of a provider that pages by tokens. */
export interface TokenPage<Item> {
  readonly items: readonly Item[];
  /** Opens the next page; undefined on the last one. */
  readonly nextToken: string | undefined;
}

interface CursorWalk<Item> {
  readonly fetchPage: (token: string | undefined) => Promise<TokenPage<Item>>;
  /** The item before the page; undefined for the first page. */
  readonly isCursor: ((item: Item) => boolean) | undefined;
  readonly limit: number;
  /** Maximum number of provider pages to read. */
  readonly maxPages: number;
}

export interface CursorPage<Item> {
  readonly items: readonly Item[];
  readonly hasMore: boolean;
}

/**
 * Reads the page after an item from a provider that pages by tokens: walks from the start to the item, takes `limit`
 * items, and reads one more to set `hasMore`. Keeps no state between calls.
 * @throws GatewayError `validation_failed` (`after`) when the item is not on the pages that are read
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
