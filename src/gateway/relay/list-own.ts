import { GatewayError } from '../../common/errors/gateway.error.js';
import { type JsonObject, readArray, readObject, readString } from '../../common/json/read.js';
import { toCursorList } from './cursor-walk.js';
import type { OperationInput } from './operation.types.js';

type ListedObject = JsonObject & { readonly id: string };

/** Most pages that are read for one page of a caller's own objects: an account of 10,000 objects. */
const MAX_PAGES = 100;
const PAGE_SIZE = 100;
const DEFAULT_LIMIT = 20;

/**
 * A page of the caller's own objects, sifted from the pages of the whole account. Reads on until the page is full and one
 * more own object, or the end, has been seen: `has_more` is then right.
 * Some servers do not know `after`: where a page holds that item, what follows it counts, and a page with nothing more ends.
 * @throws GatewayError `provider_failed` when the account is too large to be sifted
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
