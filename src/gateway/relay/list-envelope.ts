import { isObject, type JsonObject, readArray, stringOrUndefined } from '../../common/json/read.js';

/** What was asked for. */
interface Page {
  /** The cursor: items after the one with this id. */
  readonly after: string | undefined;
  /** Without it, the size of the server's pages is unknown. */
  readonly limit: number | undefined;
  /** Whether `first_id` and `last_id` are required too. */
  readonly needsIds: boolean;
}

/**
 * The list with the fields of the envelope that some servers leave out. SDKs end a list without `has_more` after its first page.
 * Returns the same object when nothing is missing.
 *
 * A server that leaves `has_more` out may not know `after` either, and repeat the items before it: they are cut off.
 */
export function withEnvelope(body: JsonObject, page: Page): JsonObject {
  const { object, has_more: hasMore, first_id: firstId, last_id: lastId } = body;
  const lacksIds = page.needsIds && (firstId === undefined || lastId === undefined);
  if (typeof object === 'string' && typeof hasMore === 'boolean' && !lacksIds) return body;
  const all = readArray(body['data'], 'body.data');
  const isKnown = typeof hasMore === 'boolean' || page.after === undefined;
  const cursor = isKnown ? -1 : all.findLastIndex((item) => idOf(item) === page.after);
  const data = cursor < 0 ? all : all.slice(cursor + 1);
  return {
    ...body,
    object: typeof object === 'string' ? object : 'list',
    data,
    first_id: firstId ?? idOf(data[0]) ?? null,
    last_id: lastId ?? idOf(data.at(-1)) ?? null,
    has_more: typeof hasMore === 'boolean' ? hasMore : mayHaveMore(page, all, cursor),
  };
}

/**
 * A page that is shorter than its limit is the last one. Without a limit, only an empty page is: one request more at the
 * end loses no items. Some servers start a page with the cursor itself; with items before it, the list does not page.
 */
function mayHaveMore({ limit = 1 }: Page, all: readonly unknown[], cursor: number): boolean {
  const isEmpty = cursor === all.length - 1;
  // Without an id, a client cannot ask for what follows.
  return !isEmpty && cursor <= 0 && all.length >= limit && idOf(all.at(-1)) !== undefined;
}

function idOf(item: unknown): string | undefined {
  return isObject(item) ? stringOrUndefined(item['id']) : undefined;
}
