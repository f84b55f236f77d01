import { replaceNumbers } from './json-numbers.js';

/**
 * JSON with every number as the text that stands there: `JSON.parse` would make a float of it, and lose digits.
 * @throws SyntaxError
 */
export function parseWithNumbersAsText(json: string): unknown {
  JSON.parse(json); // after this, what looks like a number is one
  const bytes = Buffer.from(json);
  return JSON.parse(replaceNumbers(bytes, (start, end) => `"${bytes.toString('latin1', start, end)}"`));
}
