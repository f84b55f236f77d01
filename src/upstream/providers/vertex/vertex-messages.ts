import { JSON_TOKEN, stringAt, walkJson } from '../../../common/json/scan.js';

const VERSION = 'vertex-2023-10-16';
const COMMA = Buffer.from(',');

/**
 * Converts a message request to Vertex's format: with a version, and without the model, which is in the path.
 * `messages` come last: the beginning of the body selects the prompt cache, and would otherwise change with each turn.
 * The bytes of all other members are unchanged.
 * Source: https://github.com/anthropics/anthropic-sdk-python/pull/1927, read 2026-11-28.
 * @param model for a count of tokens, whose path has none
 */
export function inVertexForm(body: Buffer, model?: string): Buffer {
  const own = { anthropic_version: VERSION, ...(model !== undefined && { model }) };
  const others = membersOf(body).filter(({ name }) => name !== 'model' && name !== 'anthropic_version');
  const last = others.filter(({ name }) => name === 'messages');
  return object(own, [...others.filter((member) => !last.includes(member)), ...last]);
}

/**
 * Converts a request of Vertex's format to Anthropic's.
 * @param own members that Vertex has in the path: the model, and whether the answer is a stream
 */
export function inAnthropicForm(body: Buffer, own: { readonly model?: string; readonly stream?: boolean }): Buffer {
  const left = new Set(['anthropic_version', ...Object.keys(own)]);
  return object(
    own,
    membersOf(body).filter(({ name }) => !left.has(name)),
  );
}

interface Member {
  readonly name: string;
  /** Name, colon and value, with surrounding white space. */
  readonly bytes: Buffer;
}

function object(own: object, members: readonly Member[]): Buffer {
  const first = Buffer.from(JSON.stringify(own).slice(1, -1));
  const all = [...(first.length === 0 ? [] : [first]), ...members.map(({ bytes }) => bytes)];
  const parts = all.flatMap((bytes, index) => (index === 0 ? [bytes] : [COMMA, bytes]));
  return Buffer.concat([Buffer.from('{'), ...parts, Buffer.from('}')]);
}

/** The members of the outermost object. */
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
