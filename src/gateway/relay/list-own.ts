import { GatewayError } from '../../common/errors/gateway.error.js';
import { type JsonObject, readArray, readObject, readString } from '../../common/json/read.js';
import { toCursorList } from '../../common/pagination/cursor-walk.js';
import type { OperationInput } from './operation.types.js';

type ListedObject = JsonObject & { readonly id: string };

/** Maximum number of pages to read for one page of the caller's objects: covers 10,000 objects. */
const MAX_PAGES = 100;
const PAGE_SIZE = 100;
const DEFAULT_LIMIT = 20;

/**
 * Reads a page of the caller's own objects, filtered from the pages of the whole account. Continues until the page is
 * full and the next own object or the end was seen, so that `has_more` is correct. Some servers ignore `after`: when a
 * page contains that item, only the items after it count, and a page without new items ends the list.
 * @throws GatewayError `provider_failed` when the account has too many objects to filter
 */
export async function listOwn(
  input: OperationInput,
  ask: (input: OperationInput) => Promise<unknown>,
  owned: (ids: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<JsonObject> {
  const limit = Number(input.query['limit'] ?? DEFAULT_LIMIT);
  const found: ListedObject[] = [];
  let { after } = input.query;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query = { ...input.query, limit: String(PAGE_SIZE), ...(after === undefined ? {} : { after }) };
    const answer = readObject(await ask({ ...input, query }), 'body');
    const all = readArray(answer['data'], 'body.data').map(readListed);
    const items = all.slice(all.findLastIndex(({ id }) => id === after) + 1);
    const own = await owned(items.map(({ id }) => id));
    found.push(...items.filter(({ id }) => own.has(id)));
    const last = items.at(-1);
    if (found.length > limit || answer['has_more'] !== true || last === undefined) {
      return toCursorList(found.slice(0, limit), found.length > limit);
    }
    after = last.id;
  }
  throw new GatewayError('provider_failed', {
    message: 'The provider account holds too many objects to list one workspace of it.',
  });
}

function readListed(value: unknown, index: number): ListedObject {
  const path = `body.data[${index}]`;
  const item = readObject(value, path);
  return { ...item, id: readString(item['id'], `${path}.id`) };
}
