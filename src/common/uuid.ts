import { randomUUID } from 'node:crypto';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** An id in the one spelling that is stored; any other text as it is. */
export function foldId(text: string): string {
  return isUuid(text) ? text.toLowerCase() : text;
}

const TIME_DIGITS = 12;
/** Where the version of a UUID stands. */
const VERSION_AT = 14;

/** A UUID of version 7 (RFC 9562): ids that are made later sort later, and land side by side in an index. */
export function uuidv7(at: Date): string {
  const time = at.getTime().toString(16).padStart(TIME_DIGITS, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(VERSION_AT + 1)}`;
}
