import { throwIfInvalid, fieldError, type ErrorDetail } from '../../common/errors/gateway.error.js';
import type { JsonObject } from '../../common/json/read.js';
import { mask } from '../../common/mask.js';
import type { AuthConfig } from '../managers/secret-manager.types.js';
import type { AuthScheme, Spelling } from './auth-scheme.types.js';
import { fieldsOf, toInterfaceName, toSpelling } from './scheme-fields.js';

const MASKED = 'masked_';

interface GivenMask {
  /** As it was sent. */
  readonly name: string;
  readonly value: unknown;
}

/** `auth_config` as a caller sent it. */
export interface GivenAuthConfig {
  /** By the interface's names. */
  readonly fields: ReadonlyMap<string, unknown>;
  /** The masks of secrets that the caller sends back as `masked_<field>`, by the interface's name of the field. */
  readonly masks: ReadonlyMap<string, GivenMask>;
  /** The name that the caller gives a field, or would give it. */
  readonly nameOf: (field: string) => string;
}

/**
 * Reads either spelling, field by field.
 * @param spelling of fields that the caller did not send, when those that it sent do not show it
 * @throws GatewayError `validation_failed` for a field that is there in both spellings
 */
export function readAuthConfig(scheme: AuthScheme, config: JsonObject, spelling: Spelling): GivenAuthConfig {
  const fields = new Map<string, unknown>();
  const masks = new Map<string, GivenMask>();
  const names = new Map<string, string>();
  const twice: ErrorDetail[] = [];
  for (const [name, value] of Object.entries(config)) {
    const isMask = name.startsWith(MASKED);
    const field = toInterfaceName(scheme, isMask ? name.slice(MASKED.length) : name);
    const key = isMask ? MASKED + field : field;
    const other = names.get(key);
    if (other !== undefined) twice.push(problem(name, `is the same field as ${other}; send one of them`));
    names.set(key, name);
    if (isMask) masks.set(field, { name, value });
    else fields.set(field, value);
  }
  throwIfInvalid(twice);
  const own = spellingOf(scheme, [...fields.keys()], names) ?? spelling;
  return { fields, masks, nameOf: (field) => names.get(field) ?? toSpelling(scheme, own, field) };
}

/** One broken rule of a field. `expected` follows the field's name. */
export function problem(name: string, expected: string): ErrorDetail {
  return fieldError(`auth_config.${name}`, expected);
}

/** The spelling of the first field that has one. */
function spellingOf(
  scheme: AuthScheme,
  fields: readonly string[],
  names: ReadonlyMap<string, string>,
): Spelling | undefined {
  for (const field of fields) {
    if (names.get(field) !== field) return 'vendor';
    if (toSpelling(scheme, 'vendor', field) !== field) return 'interface';
  }
  return undefined;
}

/** `auth_config` as answers show it: of each secret field `f` only `masked_f`. */
export function maskAuthConfig(
  scheme: AuthScheme,
  spelling: Spelling,
  config: AuthConfig,
  show = mask,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(config).map(([field, value]) => {
      const name = toSpelling(scheme, spelling, field);
      return scheme.sensitive.has(field) ? [MASKED + name, show(value)] : [name, value];
    }),
  );
}

/** Stands for a secret that does not decrypt. No secret is empty, and its mask shows that there is one. */
export const UNREADABLE = '';

/** The secrets that a config may have, when they do not decrypt. */
export function unreadableSecrets(scheme: AuthScheme, open: AuthConfig): AuthConfig {
  const fields = [...(fieldsOf(scheme, open[scheme.discriminator]) ?? [])];
  return Object.fromEntries(fields.filter((field) => scheme.sensitive.has(field)).map((field) => [field, UNREADABLE]));
}
