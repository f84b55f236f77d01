/** Text that needs no escapes in a JSON string. Excludes surrogates, since half of a pair must be escaped. */
const PLAIN = /^[ !#-[\]-~\u00a0-\ud7ff\ue000-\uffff]*$/;

/**
 * `,"name":value`, or an empty text for undefined. For responses that are written directly: creating objects first and
 * then their JSON costs three times as much.
 * @param name a name of ours, which needs no escapes
 */
export function jsonMember(name: string, value: string | number | undefined): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return `,"${name}":${jsonString(value)}`;
  return `,"${name}":${Number.isFinite(value) ? String(value) : 'null'}`;
}

export function jsonString(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** A response body that is already JSON text. */
export class JsonText {
  constructor(readonly text: string) {}
}
