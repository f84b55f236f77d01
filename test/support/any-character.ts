import fc from 'fast-check';

/**
 * Any character of Unicode: what `unit: 'binary'` means. That one builds a table of all 1,112,064 characters, which takes
 * a second and stays in memory.
 */
export const anyCharacter = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code), codeOf);

/** Without it, the strings that fast-check likes to try, such as "__proto__", would not be among the generated ones. */
function codeOf(character: unknown): number {
  const [only, ...more] = typeof character === 'string' ? character : [];
  const code = only?.codePointAt(0);
  if (code === undefined || more.length > 0) throw new TypeError('expected one character');
  return code;
}
