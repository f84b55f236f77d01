import { sensitiveFields } from './providers/sensitive.decorator.js';
import type { Credential, Provider } from './providers/provider.types.js';
import type { UpstreamHeaders } from './upstream.types.js';

const MASK = '****';
/** Shorter values may be part of ordinary words, and are too weak to be secrets. */
const MIN_SECRET_LENGTH = 8;

/**
 * The secrets of a credential: its key and the sealed options.
 * @param mapped options from secret references, which are always secrets
 */
export function secretsOf(
  { optionsClass }: Pick<Provider, 'optionsClass'>,
  { key, options }: Pick<Credential, 'key' | 'options'>,
  mapped: readonly string[] = [],
): readonly string[] {
  const names = [...sensitiveFields(optionsClass), ...mapped];
  const values: readonly unknown[] = [key, ...names.map((name) => Reflect.get(options, name))];
  return values.filter((value) => typeof value === 'string').filter((value) => value.length >= MIN_SECRET_LENGTH);
}

/**
 * Returns the body of a provider's answer without the secrets, since some providers repeat the refused key. All other
 * bytes are kept, also invalid UTF-8.
 */
export function withoutSecrets(body: Buffer, secrets: readonly string[]): Buffer {
  // One character for each byte.
  const text = body.toString('latin1');
  const spellings = secrets.flatMap(spellingsOf).map((spelling) => Buffer.from(spelling).toString('latin1'));
  const found = spellings.filter((spelling) => text.includes(spelling));
  // Longest first, since one may contain another.
  found.sort((a, b) => b.length - a.length);
  if (found.length === 0) return body;
  return Buffer.from(
    found.reduce((rest, secret) => rest.replaceAll(secret, MASK), text),
    'latin1',
  );
}

/** Returns the headers of a provider's answer, without those that contain a secret. */
export function headersWithoutSecrets(headers: UpstreamHeaders, secrets: readonly string[]): UpstreamHeaders {
  const holdsSecret = (value: string): boolean => secrets.some((secret) => value.includes(secret));
  return Object.fromEntries(Object.entries(headers).filter(([, value = []]) => ![value].flat().some(holdsSecret)));
}

/** The position of a secret in the bytes, or of its beginning at their end; undefined when there is none. */
export function beginningOfSecret(bytes: Buffer, secrets: readonly string[]): number | undefined {
  if (bytes.length === 0) return undefined;
  const spellings = new Set(secrets.flatMap(spellingsOf));
  const starts = [...spellings].map((spelling) => startOf(bytes, Buffer.from(spelling))).filter((at) => at >= 0);
  return starts.length === 0 ? undefined : Math.min(...starts);
}

/** The position of the secret, or of its beginning at the end of the bytes; -1 when there is none. */
function startOf(bytes: Buffer, secret: Buffer): number {
  const whole = bytes.indexOf(secret);
  if (whole >= 0) return whole;
  const [first = 0] = secret;
  const from = Math.max(0, bytes.length - secret.length + 1);
  for (let at = bytes.indexOf(first, from); at >= 0; at = bytes.indexOf(first, at + 1)) {
    if (bytes.subarray(at).equals(secret.subarray(0, bytes.length - at))) return at;
  }
  return -1;
}

/** The secret as it is, and in the spellings of JSON: with escaped quotes, backslashes and slashes. */
function spellingsOf(secret: string): readonly string[] {
  const quoted = JSON.stringify(secret).slice(1, -1);
  return [secret, quoted, quoted.replaceAll('/', '\\/')];
}
