/** NUL, and halves of surrogate pairs: JSON can spell both, PostgreSQL can hold neither. */
const UNSTORABLE = /[\0\p{Cs}]/u;
const EACH_UNSTORABLE = new RegExp(UNSTORABLE, 'gu');
const REPLACEMENT = '\uFFFD';

/** Whether PostgreSQL takes the text as it is. */
export function isStorableText(text: string): boolean {
  return !UNSTORABLE.test(text);
}

/** With the replacement character for what PostgreSQL cannot hold. */
export function toStorableText(text: string): string {
  return isStorableText(text) ? text : text.replaceAll(EACH_UNSTORABLE, REPLACEMENT);
}
