import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../common/errors/gateway.error.js';
import { gatewayHeader, KEY_HEADERS } from '../common/http/gateway-headers.js';

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

/** What a request brings to say who its caller is. */
type Credentials =
  | { readonly kind: 'api_key'; readonly key: string }
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'none' };

/** Where the clients of other APIs put their key. What has not the form of a gateway key there is not for the gateway. */
const CLIENT_HEADERS = ['x-api-key', 'api-key', 'x-goog-api-key'] as const;

/**
 * The gateway key's own header first. A bearer token, and the key of another API's client, counts as a gateway key when it has
 * the form of one.
 * @throws GatewayError `api_key_invalid` for two headers with different gateway keys
 */
export function readCredentials(headers: IncomingHttpHeaders): Credentials {
  const own = gatewayHeader(headers, 'api-key');
  const token = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  let found: KeyAt | undefined = own === undefined ? undefined : { key: own, header: KEY_HEADERS[0] };
  if (token !== undefined) found = sameKey(found, { key: token, header: 'authorization' });
  for (const header of CLIENT_HEADERS) {
    const key = headers[header];
    if (typeof key === 'string') found = sameKey(found, { key, header });
  }
  if (found !== undefined) return { kind: 'api_key', key: found.key };
  return token === undefined ? { kind: 'none' } : { kind: 'token', token };
}

interface KeyAt {
  readonly key: string;
  readonly header: string;
}

function sameKey(one: KeyAt | undefined, other: KeyAt): KeyAt | undefined {
  if (!looksLikeApiKey(other.key)) return one;
  if (one === undefined || one.key === other.key) return one ?? other;
  const message = `The headers ${one.header} and ${other.header} have different gateway keys.`;
  throw new GatewayError('api_key_invalid', { message, reason: 'two keys', headers: BEARER });
}

const BEARER = { 'www-authenticate': 'Bearer realm="tollgate"' };
