import { randomUUID } from 'node:crypto';

/** In either case; without the ends, for larger patterns. */
export const UUID_PATTERN = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';
const UUID = new RegExp(`^${UUID_PATTERN}$`);

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
