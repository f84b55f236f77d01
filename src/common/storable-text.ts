/** NUL, and halves of surrogate pairs: JSON can spell both, PostgreSQL can hold neither. */
const UNSTORABLE = /[\0\p{Cs}]/u;
const EACH_UNSTORABLE = new RegExp(UNSTORABLE, 'gu');
const REPLACEMENT = '\uFFFD';

/** Whether PostgreSQL can store the text unchanged. */
export function isStorableText(text: string): boolean {
  return !UNSTORABLE.test(text);
}

/** Replaces what PostgreSQL cannot store, and cuts the text to a column of so many characters. */
export function toStorableText(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) {
    return UNSTORABLE.test(text) ? text.replaceAll(EACH_UNSTORABLE, REPLACEMENT) : text;
  }
  // Cut by code points, as PostgreSQL counts, so that no surrogate pair is split.
  const enough = text.slice(0, 2 * maxCharacters).replaceAll(EACH_UNSTORABLE, REPLACEMENT);
  return Array.from(enough).slice(0, maxCharacters).join('');
}

/** A value as JSON that PostgreSQL can store, whatever its texts hold. The names of fields stay as they are. */
export function toStorableJson(value: unknown): string {
  return JSON.stringify(value, (_name, inner: unknown) =>
    typeof inner === 'string' && !isStorableText(inner) ? inner.replaceAll(EACH_UNSTORABLE, REPLACEMENT) : inner,
  );
}

/** Like `toStorableText`, for a text that may be absent. */
export function toStorableOrNull(text: string | null, maxCharacters: number): string | null {
  return text === null ? null : toStorableText(text, maxCharacters);
}

/** Replaces and cuts in names and values alike. Returns the same object where nothing changes. */
export function storableTexts(
  texts: Readonly<Record<string, string>>,
  maxCharacters: number,
): Readonly<Record<string, string>> {
  for (const name in texts) {
    const text = texts[name] ?? '';
    if (toStorableText(name, maxCharacters) === name && toStorableText(text, maxCharacters) === text) continue;
    const entries = Object.entries(texts);
    return Object.fromEntries(
      entries.map(([key, value]) => [toStorableText(key, maxCharacters), toStorableText(value, maxCharacters)]),
    );
  }
  return texts;
}
