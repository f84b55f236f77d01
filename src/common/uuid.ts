import { randomFillSync } from 'node:crypto';

/** Upper or lower case; without anchors, for larger patterns. */
export const UUID_PATTERN = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';
const UUID = new RegExp(`^${UUID_PATTERN}$`);

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** An id in the spelling that is stored. Returns any other text unchanged. */
export function foldId(text: string): string {
  return isUuid(text) ? text.toLowerCase() : text;
}

/** Random bytes are drawn in bulk: fetching them one by one costs more than everything else here. */
const stock = Buffer.alloc(16_384);
let taken = stock.length;
const UUID_BYTES = 16;

/** The 32 digits of a random UUID (version 4, RFC 9562, section 5.4), without the hyphens. */
export function randomUuidDigits(): string {
  if (taken === stock.length) {
    randomFillSync(stock);
    taken = 0;
  }
  const start = taken;
  taken += UUID_BYTES;
  stock[start + 6] = ((stock[start + 6] ?? 0) & 0x0f) | 0x40;
  stock[start + 8] = ((stock[start + 8] ?? 0) & 0x3f) | 0x80;
  return stock.toString('hex', start, taken);
}

export function toUuid(digits: string): string {
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`;
}

const TIME_DIGITS = 12;
/** The last millisecond and its prefix, since many UUIDs are made within one millisecond. */
let lastTime = Number.NaN;
let timeText = '';

/** A UUID of version 7 (RFC 9562): later ids sort later and are neighbours in an index. */
export function uuidv7(at: Date): string {
  const time = at.getTime();
  if (time !== lastTime) {
    const digits = time.toString(16).padStart(TIME_DIGITS, '0');
    timeText = `${digits.slice(0, 8)}-${digits.slice(8)}`;
    lastTime = time;
  }
  const digits = randomUuidDigits();
  return `${timeText}-7${digits.slice(13, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`;
}
