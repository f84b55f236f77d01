import { getMetadataStorage } from 'class-validator';
import { throwIfInvalid, fieldError, type ErrorDetail, invalidField } from '../common/errors/gateway.error.js';
import type { JsonObject } from '../common/json/read.js';
import type { MappedField } from '../secret-references/secret-mapping.entity.js';
import type { SecretFieldValues } from '../secret-references/secret-values.js';
import type { Provider } from '../upstream/providers/provider.types.js';

/** Target fields: `key`, and `config.<name of an option>`. */
export type MappedFields = ReadonlySet<string>;

export const NO_FIELDS: MappedFields = new Set();

const KEY = 'key';
export const CONFIG = 'config.';
const MAX_KEY_CHARACTERS = 8192;

/** What a virtual key has inline. */
export interface InlineFields {
  readonly key: string | undefined;
  readonly config: JsonObject;
}

function targetOf(option: string): string {
  return CONFIG + option;
}

/**
 * The fields that a request maps to secret references.
 * @throws GatewayError `validation_failed`, which names `secret_mappings.<i>.target_field`, when the provider has no such
 * field, or when the request gives it a value as well
 */
export function readTargets(
  provider: Provider,
  mappings: readonly { readonly target_field: string }[],
  given: InlineFields,
): MappedFields {
  const known = fieldsOf(provider);
  const details = mappings.flatMap(({ target_field: field }, index): ErrorDetail[] => {
    const param = `secret_mappings.${index}.target_field`;
    if (!known.has(field)) return [fieldError(param, `must name a field of the provider: ${list(known)}`)];
    return isGiven(field, given) ? [fieldError(param, 'must not name a field that is given as well')] : [];
  });
  throwIfInvalid(details);
  return new Set(mappings.map((mapping) => mapping.target_field));
}

/**
 * The fields that are mapped already, for a request that says nothing of mappings.
 * @throws GatewayError `validation_failed` when it gives one of them a value
 */
export function keepTargets(mappings: readonly MappedField[], given: InlineFields): MappedFields {
  const fields = mappings.map((mapping) => mapping.targetField);
  const field = fields.find((name) => isGiven(name, given));
  if (field !== undefined) throw invalidField(field, 'comes from a secret reference: change secret_mappings instead');
  return new Set(fields);
}

/** Names of the options among the mapped fields. */
export function mappedOptions(mappings: readonly Pick<MappedField, 'targetField'>[]): readonly string[] {
  return mappings.flatMap(({ targetField: field }) => (field === KEY ? [] : [field.slice(CONFIG.length)]));
}

export function withoutMapped(options: JsonObject, mapped: MappedFields): JsonObject {
  return mapped.size === 0
    ? options
    : Object.fromEntries(Object.entries(options).filter(([name]) => !mapped.has(targetOf(name))));
}

/**
 * Credentials go only to the host that they were stored for, and whoever can change a mapped address decides where
 * everything goes. So it needs secrets that come from there as well.
 * @throws GatewayError `validation_failed`
 */
export function assertAddressIsOurs(mapped: MappedFields, key: string | undefined, secrets: JsonObject): void {
  if (!mapped.has(targetOf('base_url'))) return;
  const [inline] = [...(key === undefined ? [] : [KEY]), ...Object.keys(secrets).map(targetOf)];
  if (inline !== undefined) throw invalidField(inline, 'must come from a secret reference, as config.base_url does');
}

/** Lays the values of mapped fields over the stored ones. */
export function merge({ key, config }: InlineFields, values: SecretFieldValues): InlineFields {
  const options = [...values].filter(([field]) => field !== KEY);
  return {
    key: values.has(KEY) ? readKey(values.get(KEY)) : key,
    config: { ...config, ...Object.fromEntries(options.map(([field, value]) => [field.slice(CONFIG.length), value])) },
  };
}

/** @throws GatewayError `validation_failed` */
function readKey(value: unknown): string {
  if (typeof value === 'string' && value !== '' && value.length <= MAX_KEY_CHARACTERS) return value;
  throw invalidField(KEY, `must be a text of 1 to ${MAX_KEY_CHARACTERS} characters`);
}

export function optionNames({ optionsClass }: Provider): ReadonlySet<string> {
  const rules = getMetadataStorage().getTargetValidationMetadatas(optionsClass, '', false, false);
  return new Set(rules.map((rule) => rule.propertyName));
}

function fieldsOf(provider: Provider): ReadonlySet<string> {
  return new Set([...(provider.key === 'none' ? [] : [KEY]), ...[...optionNames(provider)].map(targetOf)]);
}

/** `null` takes an option out, so it is none. */
function isGiven(field: string, { key, config }: InlineFields): boolean {
  if (field === KEY) return key !== undefined;
  const option = field.slice(CONFIG.length);
  return Object.hasOwn(config, option) && config[option] !== null;
}

function list(fields: ReadonlySet<string>): string {
  return fields.size === 0 ? 'it has none' : [...fields].join(', ');
}
