import { JSON_TOKEN, type LastString, walkJson } from '../../common/json/scan.js';

/** The members with the texts that a model reads, in the formats of OpenAI's API. */
const MEMBERS: ReadonlySet<string> = new Set(['messages', 'input', 'instructions', 'prompt']);
/**
 * The fields with texts that the model reads unchanged. The bytes around them cover the frame of each message and item.
 */
const FIELDS: ReadonlySet<string> = new Set(['content', 'text', 'output', 'input', 'instructions', 'prompt']);
const MAX_NAME_BYTES = 64;
/** Texts up to this length are not counted, since they save little. */
const SHORTEST_BYTES = 16;

/**
 * The positions of the input's texts in a body: pairs of the first and the last quote. Names are compared without
 * unescaping, so a field under an escaped name is not counted.
 */
export function inputTexts(json: Buffer): Uint32Array {
  const spans: number[] = [];
  /** The name of each list or object around the token. */
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
        // For a further item of a list. In an object, a name follows.
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
