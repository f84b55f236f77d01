import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** `tg_<8 public id>_<43 secret><6 CRC32>`, all base62. 43 base62 digits hold 256 bits. */
const KEY_FORM = /^tg_([0-9A-Za-z]{8})_[0-9A-Za-z]{49}$/;
const PUBLIC_ID_LENGTH = 8;
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Bytes from here on are thrown away: 256 is not a multiple of 62, and the first digits would come up more often. */
const FAIR_BYTES = 256 - (256 % ALPHABET.length);

/** A new random key. It is shown to its owner once; only its hash is kept. */
export function generateApiKey(): string {
  const body = `tg_${randomBase62(PUBLIC_ID_LENGTH)}_${randomBase62(SECRET_LENGTH)}`;
  return body + checksum(body);
}

/** Public id of a well-formed key; undefined for anything else, so that a mistyped key never reaches the database. */
export function publicIdOf(key: string): string | undefined {
  const publicId = KEY_FORM.exec(key)?.[1];
  if (publicId === undefined) return undefined;
  return checksum(key.slice(0, -CHECKSUM_LENGTH)) === key.slice(-CHECKSUM_LENGTH) ? publicId : undefined;
}

/** The part of a key that may be shown. */
export function prefixOf(key: string): string {
  return key.slice(0, 'tg_'.length + PUBLIC_ID_LENGTH);
}

/** Whether a bearer token is meant as a gateway key, well-formed or not. */
export function looksLikeApiKey(token: string): boolean {
  return token.startsWith('tg_');
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let place = 0; place < CHECKSUM_LENGTH; place += 1) {
    digits = ALPHABET.charAt(rest % ALPHABET.length) + digits;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return digits;
}

function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < FAIR_BYTES && text.length < length) text += ALPHABET.charAt(byte % ALPHABET.length);
    }
  }
  return text;
}
