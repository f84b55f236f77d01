import { JSON_TOKEN, type LastString, walkJson } from '../../common/json/scan.js';

/** The members with what a model reads as text, in the forms of OpenAI's API. */
const MEMBERS: ReadonlySet<string> = new Set(['messages', 'input', 'instructions', 'prompt']);
/** The fields with texts that the model reads as they are. The bytes around them cover the frame of each message and item. */
const FIELDS: ReadonlySet<string> = new Set(['content', 'text', 'output', 'input', 'instructions', 'prompt']);
const MAX_NAME_BYTES = 64;
/** A short text has nothing to gain. */
const SHORTEST_BYTES = 16;

/**
 * Where the texts of the input are in a body: pairs of the position of the first quote and of the last. Names are compared as
 * they are written, so that a field under an escaped name keeps its bytes.
 */
export function inputTexts(json: Buffer): Uint32Array {
  const spans: number[] = [];
  /** The name under which each list or object around the token stands. */
  const around: string[] = [];
  let member = '';
  let name = '';
  let previous = 0;
  walkJson(json, (token, at, depth, last) => {
    switch (token) {
      case JSON_TOKEN.colon:
        name = nameAt(json, last);
        if (depth === 1) member = name;
        break;
      case JSON_TOKEN.openBrace:
      case JSON_TOKEN.openBracket:
        around[depth] = name;
        break;
      default:
        if (last.start > previous && MEMBERS.has(member) && FIELDS.has(name) && last.end - last.start > SHORTEST_BYTES)
          spans.push(last.start, last.end);
        // A further item of a list. In an object, a name follows.
        name = around[depth] ?? '';
    }
    previous = at;
    return true;
  });
  return Uint32Array.from(spans);
}

function nameAt(json: Buffer, name: Readonly<LastString>): string {
  if (name.end - name.start > MAX_NAME_BYTES) return '';
  const text = json.toString('latin1', name.start + 1, name.end);
  return text.includes('\\') ? '' : text;
}
