const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/**
 * JSON with every number as the text that stands there: `JSON.parse` would make a float of it, and lose digits.
 * @throws SyntaxError
 */
export function parseWithNumbersAsText(json: string): unknown {
  JSON.parse(json); // after this, what looks like a number is one
  return JSON.parse(json.replace(STRING_OR_NUMBER, (part) => (part.startsWith('"') ? part : `"${part}"`)));
}
