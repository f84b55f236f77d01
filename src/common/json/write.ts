/** Text that stands in a JSON string as it is. Without surrogates, since half of a pair has to be escaped. */
const PLAIN = /^[ !#-[\]-~\u00a0-\ud7ff\ue000-\uffff]*$/;

/**
 * `,"name":value` for a value that is there, and nothing for undefined. For answers that are written at once: to make objects
 * first, and JSON of them then, costs three times as much.
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

/** @param members each with the comma before it */
export function jsonObject(members: string): string {
  return `{${members.slice(1)}}`;
}

/** An answer that is JSON already. */
export class JsonText {
  constructor(readonly text: string) {}
}
