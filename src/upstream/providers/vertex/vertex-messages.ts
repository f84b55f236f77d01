import { JSON_TOKEN, stringAt, walkJson } from '../../../common/json/scan.js';

const VERSION = '"anthropic_version":"vertex-2023-10-16"';
/** What stands elsewhere, or is replaced. */
const LEFT_OUT: ReadonlySet<string> = new Set(['model', 'anthropic_version']);

/**
 * A request of messages as Vertex takes it: with its version, and without the model, which stands in the path. `messages` come last:
 * the beginning of the body decides which of several caches has the prompt, and would change with each turn. The bytes of
 * every member stay as they are. Source: https://github.com/anthropics/anthropic-sdk-python/pull/1927, read 2026-11-28.
 * @param model for a count of tokens, whose path has none
 */
export function inVertexForm(body: Buffer, model?: string): Buffer {
  const members = membersOf(body).filter(({ name }) => !LEFT_OUT.has(name));
  const last = members.filter(({ name }) => name === 'messages');
  const first = members.filter(({ name }) => name !== 'messages');
  const own = model === undefined ? VERSION : `${VERSION},"model":${JSON.stringify(model)}`;
  const parts: Buffer[] = [Buffer.from(`{${own}`)];
  for (const { bytes } of [...first, ...last]) parts.push(COMMA, bytes);
  return Buffer.concat([...parts, CLOSE]);
}

const COMMA = Buffer.from(',');
const CLOSE = Buffer.from('}');

interface Member {
  readonly name: string;
  /** Name, colon and value, with the spaces around them. */
  readonly bytes: Buffer;
}

/** Of the outermost object. */
function membersOf(json: Buffer): readonly Member[] {
  const members: Member[] = [];
  let start = 0;
  let name: string | undefined;
  walkJson(json, (token, at, depth, last) => {
    if (depth !== 1) return true;
    if (token === JSON_TOKEN.openBrace) start = at + 1;
    else if (token === JSON_TOKEN.colon) name = stringAt(json, last);
    else if (token === JSON_TOKEN.comma || token === JSON_TOKEN.closeBrace) {
      if (name !== undefined) members.push({ name, bytes: json.subarray(start, at) });
      name = undefined;
      start = at + 1;
    }
    return true;
  });
  return members;
}
