/** Everything that is not printable ASCII; below the space, JSON has escapes of its own. */
const NOT_ASCII = /[\u007f-\uffff]/g;

/**
 * JSON that fits into a header: ASCII only (RFC 9110, section 5.5), other characters as `\uXXXX` (RFC 8259, section 7), so that
 * every JSON parser reads back what was meant. Raw UTF-8 would arrive as Latin-1.
 */
export function toHeaderJson(value: object): string {
  return JSON.stringify(value).replace(
    NOT_ASCII,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
