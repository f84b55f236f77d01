/** NUL, and halves of surrogate pairs: JSON can spell both, PostgreSQL can hold neither. */
const UNSTORABLE = /[\0\p{Cs}]/u;
const EACH_UNSTORABLE = new RegExp(UNSTORABLE, 'gu');
const REPLACEMENT = '\uFFFD';

/** Whether PostgreSQL takes the text as it is. */
export function isStorableText(text: string): boolean {
  return !UNSTORABLE.test(text);
}

/** With the replacement character for what PostgreSQL cannot hold, and no longer than a column of so many characters. */
export function toStorableText(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) {
    return isStorableText(text) ? text : text.replaceAll(EACH_UNSTORABLE, REPLACEMENT);
  }
  // By code points, as PostgreSQL counts, and so that no pair is cut in two: none has more than two units.
  const enough = text.slice(0, 2 * maxCharacters).replaceAll(EACH_UNSTORABLE, REPLACEMENT);
  return Array.from(enough).slice(0, maxCharacters).join('');
}

/** The same for a text that may be absent. */
export function toStorableOrNull(text: string | null, maxCharacters: number): string | null {
  return text === null ? null : toStorableText(text, maxCharacters);
}
