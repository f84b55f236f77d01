import { JSON_TOKEN, stringAt, walkJson } from '../../../common/json/scan.js';

const VERSION = 'vertex-2023-10-16';
const COMMA = Buffer.from(',');

/**
 * A request of messages as Vertex takes it: with its version, and without the model, which stands in the path. `messages` come last:
 * the beginning of the body decides which of several caches has the prompt, and would change with each turn. The bytes of
 * every member stay as they are. Source: https://github.com/anthropics/anthropic-sdk-python/pull/1927, read 2026-11-28.
 * @param model for a count of tokens, whose path has none
 */
export function inVertexForm(body: Buffer, model?: string): Buffer {
  const own = { anthropic_version: VERSION, ...(model !== undefined && { model }) };
  const others = membersOf(body).filter(({ name }) => name !== 'model' && name !== 'anthropic_version');
  const last = others.filter(({ name }) => name === 'messages');
  return object(own, [...others.filter((member) => !last.includes(member)), ...last]);
}

/** The same request as Anthropic takes it. @param own members that Vertex has in the path: the model, and whether the answer is a stream */
export function inAnthropicForm(body: Buffer, own: { readonly model?: string; readonly stream?: boolean }): Buffer {
  const left = new Set(['anthropic_version', ...Object.keys(own)]);
  return object(
    own,
    membersOf(body).filter(({ name }) => !left.has(name)),
  );
}

interface Member {
  readonly name: string;
  /** Name, colon and value, with the spaces around them. */
  readonly bytes: Buffer;
}

function object(own: object, members: readonly Member[]): Buffer {
  const first = Buffer.from(JSON.stringify(own).slice(1, -1));
  const all = [...(first.length === 0 ? [] : [first]), ...members.map(({ bytes }) => bytes)];
  const parts = all.flatMap((bytes, index) => (index === 0 ? [bytes] : [COMMA, bytes]));
  return Buffer.concat([Buffer.from('{'), ...parts, Buffer.from('}')]);
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
