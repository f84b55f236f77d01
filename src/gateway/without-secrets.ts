import { sensitiveFields } from '../upstream/providers/sensitive.decorator.js';
import type { Credential, Provider } from '../upstream/providers/provider.types.js';

const MASK = '****';
/** Shorter values may be part of ordinary words, and are too weak to be secrets. */
const MIN_SECRET_LENGTH = 8;

/**
 * The body of a provider's answer without the virtual key's own secrets: some providers repeat the key that they refuse.
 * @param mapped options that come from secret references, and are secrets whatever they are otherwise
 */
export function withoutSecrets(
  body: Buffer,
  provider: Pick<Provider, 'optionsClass'>,
  credential: Credential,
  mapped: readonly string[] = [],
): Buffer {
  const text = body.toString('utf8');
  const found = secretsOf(provider, credential, mapped).filter((secret) => text.includes(secret));
  return found.length === 0 ? body : Buffer.from(found.reduce((rest, secret) => rest.replaceAll(secret, MASK), text));
}

/** As they are, and as JSON may spell them: with escaped quotes, backslashes and slashes. Longest first: one may hold another. */
function secretsOf(
  { optionsClass }: Pick<Provider, 'optionsClass'>,
  { key, options }: Credential,
  mapped: readonly string[],
): readonly string[] {
  const names = [...sensitiveFields(optionsClass), ...mapped];
  const values: readonly unknown[] = [key, ...names.map((name) => Reflect.get(options, name))];
  return values
    .filter((value) => typeof value === 'string')
    .filter((value) => value.length >= MIN_SECRET_LENGTH)
    .flatMap((value) => [JSON.stringify(value).slice(1, -1), JSON.stringify(value).slice(1, -1).replaceAll('/', '\\/')])
    .sort((a, b) => b.length - a.length);
}
