import { isObject, type JsonObject, readArray, stringOrUndefined } from '../../common/json/read.js';

/** What was asked for. */
interface Page {
  /** The cursor: items after the one with this id. */
  readonly after: string | undefined;
  /** The cursor of a client that pages backwards: items before the one with this id. */
  readonly before: string | undefined;
  /** Whether `first_id` and `last_id` are required too. */
  readonly needsIds: boolean;
}

/**
 * The list with the fields of the envelope that some servers leave out. SDKs end a list without `has_more` after its first page.
 * Returns the same object when nothing is missing.
 *
 * A server that leaves `has_more` out may not know cursors either, and repeat items: those on the wrong side are cut off.
 */
export function withEnvelope(body: JsonObject, page: Page): JsonObject {
  const { object, has_more: hasMore, first_id: firstId, last_id: lastId } = body;
  const lacksIds = page.needsIds && (firstId === undefined || lastId === undefined);
  if (typeof object === 'string' && typeof hasMore === 'boolean' && !lacksIds) return body;
  const all = readArray(body['data'], 'body.data');
  const { data, mayHaveMore } = typeof hasMore === 'boolean' ? { data: all, mayHaveMore: hasMore } : cut(all, page);
  return {
    ...body,
    object: typeof object === 'string' ? object : 'list',
    data,
    first_id: firstId ?? idOf(data[0]) ?? null,
    last_id: lastId ?? idOf(data.at(-1)) ?? null,
    has_more: mayHaveMore,
  };
}

/**
 * Only an empty page is the last one: the server may have pages that are smaller than the limit. One request more at the
 * end loses no items. Some servers include the cursor itself; with more items beyond it, the list does not page.
 */
function cut(all: readonly unknown[], { after, before }: Page): { data: readonly unknown[]; mayHaveMore: boolean } {
  const start = after === undefined ? -1 : all.findLastIndex((item) => idOf(item) === after);
  const found = before === undefined ? -1 : all.findIndex((item) => idOf(item) === before);
  const end = found === -1 ? all.length : found;
  const data = all.slice(start + 1, end);
  // Without an id, a client cannot ask for what follows.
  const next = idOf(before === undefined ? data.at(-1) : data[0]);
  return { data, mayHaveMore: next !== undefined && start <= 0 && end >= all.length - 1 };
}

function idOf(item: unknown): string | undefined {
  return isObject(item) ? stringOrUndefined(item['id']) : undefined;
}
