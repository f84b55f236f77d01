import { isObject, type JsonObject, readArray, stringOrUndefined } from '../../common/json/read.js';

/** OpenAI's own page size, for lists whose requests need not name one. */
const DEFAULT_LIMIT = 10_000;

/** What the caller asked for. */
interface Page {
  readonly query: Readonly<Record<string, string>>;
  /** Whether `first_id` and `last_id` are required too. */
  readonly needsIds: boolean;
}

/**
 * The list with the fields of the envelope that some servers leave out. SDKs end a list without `has_more` after its first page.
 * Returns the same object when nothing is missing.
 *
 * A server that leaves `has_more` out may not know `after` either, and repeat the items before it: they are cut off.
 */
export function withEnvelope(body: JsonObject, { query, needsIds }: Page): JsonObject {
  const { object, has_more: hasMore, first_id: firstId, last_id: lastId } = body;
  const lacksIds = needsIds && (firstId === undefined || lastId === undefined);
  if (typeof object === 'string' && typeof hasMore === 'boolean' && !lacksIds) return body;
  const all = readArray(body['data'], 'body.data');
  const known = typeof hasMore === 'boolean' ? -1 : all.findLastIndex((item) => idOf(item) === query['after']);
  const data = query['after'] === undefined || known < 0 ? all : all.slice(known + 1);
  const isFull = data === all && all.length >= Number(query['limit'] ?? DEFAULT_LIMIT);
  return {
    ...body,
    object: typeof object === 'string' ? object : 'list',
    data,
    first_id: firstId ?? idOf(data[0]) ?? null,
    last_id: lastId ?? idOf(data.at(-1)) ?? null,
    has_more: typeof hasMore === 'boolean' ? hasMore : isFull,
  };
}

function idOf(item: unknown): string | undefined {
  return isObject(item) ? stringOrUndefined(item['id']) : undefined;
}
