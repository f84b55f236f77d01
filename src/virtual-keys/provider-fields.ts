import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync } from 'class-validator';
import { throwIfInvalid, type ErrorDetail, invalidField } from '../common/errors/gateway.error.js';
import type { JsonObject } from '../common/json/read.js';
import { copyForClass } from '../common/validation/bounded-fields.js';
import { toDetails } from '../common/validation/validation-details.js';
import { type MappedTargets, NO_TARGETS } from '../secret-references/mapped-resource/mapped-targets.js';
import type { Fields, SealedConfig } from '../secret-references/mapped-resource/sealed-config.js';
import type { MappedField } from '../secret-references/secret-mapping.entity.js';
import { givenAddress, type SecretDestination } from '../secret-references/secret-destination.js';
import { egressProblem } from '../upstream/egress/egress-refused.error.js';
import type { EgressPolicy } from '../upstream/egress/egress-policy.js';
import { sensitiveFields } from '../upstream/providers/sensitive.decorator.js';
import type { BaseProviderOptions, Provider } from '../upstream/providers/provider.types.js';

export const KEY = 'key';
const CONFIG = 'config.';
const BASE_URL = `${CONFIG}base_url`;
const MAX_KEY_CHARACTERS = 8192;

/** `key` and `config` of a virtual key, as a body has them. */
export interface KeyAndConfig {
  readonly key?: string | null | undefined;
  readonly config?: JsonObject | undefined;
}

/** The key and the options that a provider takes. All of its secrets are sent to `config.base_url`. */
export function sealedConfigOf(provider: Provider): SealedConfig {
  const rules = getMetadataStorage().getTargetValidationMetadatas(provider.optionsClass, '', false, false);
  const options = new Set(rules.map((rule) => CONFIG + rule.propertyName));
  const fields = new Set([...(provider.key === 'none' ? [] : [KEY]), ...options]);
  const secrets = new Set([KEY, ...sensitiveFields(provider.optionsClass).map((option) => CONFIG + option)]);
  return {
    has: (field) => fields.has(field),
    expected: `must name a field of the provider: ${fields.size === 0 ? 'it has none' : [...fields].join(', ')}`,
    isSecret: (field) => secrets.has(field),
    hostFieldOf: () => BASE_URL,
  };
}

export function toFields({ key, config = {} }: KeyAndConfig): Fields {
  const options = Object.entries(config).map(([option, value]) => [CONFIG + option, value] as const);
  return new Map<string, unknown>([...(key === undefined ? [] : [[KEY, key] as const]), ...options]);
}

/** @throws GatewayError `validation_failed` for a mapped key that is not a text */
export function fromFields(fields: Fields): { readonly key: string | undefined; readonly config: JsonObject } {
  const options = [...fields].filter(([field]) => field !== KEY);
  return {
    key: readKey(fields.get(KEY)),
    config: Object.fromEntries(options.map(([field, value]) => [field.slice(CONFIG.length), value])),
  };
}

/** Names of the options among the mapped fields. */
export function mappedOptions(mappings: readonly Pick<MappedField, 'targetField'>[]): readonly string[] {
  return mappings.flatMap(({ targetField: field }) => (field === KEY ? [] : [field.slice(CONFIG.length)]));
}

/**
 * Checks the fields of a virtual key against the rules of its provider. Mapped fields are left out: their values are known,
 * and checked, when they are used.
 * @throws GatewayError `validation_failed` that names every broken field, as `config.aws_region`
 */
export function checkFields(
  provider: Provider,
  fields: Fields,
  egress: EgressPolicy,
  mapped: MappedTargets = NO_TARGETS,
): void {
  const { key, config } = fromFields(fields);
  const given = plainToInstance(provider.optionsClass, copyForClass(provider.optionsClass, config));
  const errors = validateSync(given, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: false });
  const broken = new Set(errors.map(({ property }) => CONFIG + property));
  const sound = Object.entries(config).filter(([option]) => !broken.has(CONFIG + option));
  const options = plainToInstance(
    provider.optionsClass,
    copyForClass(provider.optionsClass, Object.fromEntries(sound)),
  );
  // Its value is known when it is used, but it takes the place of other credentials already.
  const keyOrMark = mapped.has(KEY) ? 'mapped' : key;
  const others = [...(provider.checkOptions?.(options, keyOrMark) ?? []), ...egressProblems(options, egress)];
  const isNew = ({ param }: ErrorDetail): boolean => param === null || !(mapped.has(param) || broken.has(param));
  throwIfInvalid([...toDetails(errors, 'config'), ...others.filter(isNew)]);
  assertAddressIsOurs(provider, fields, mapped);
}

/**
 * Where the secrets of a virtual key are sent: all of them to its address.
 * @param mapped fields whose values are not among the options; empty when they are
 */
export function destinationOf(
  provider: Provider | undefined,
  options: JsonObject,
  mapped: ReadonlySet<string>,
): SecretDestination {
  const slug = provider?.slug ?? '';
  const given = options['base_url'];
  if (given !== undefined || mapped.has(BASE_URL)) {
    return { provider: slug, url: givenAddress(given), isOwnAddress: false };
  }
  return { provider: slug, url: provider && ownAddress(provider, options), isOwnAddress: true };
}

/** undefined where it needs more than the options that are known, such as a region from the model. */
function ownAddress(provider: Provider, options: JsonObject): URL | undefined {
  try {
    const credential = { key: 'none', options: toProviderOptions(provider, options), organisationId: '' };
    return provider.address({ method: 'GET', path: '/' }, credential).url;
  } catch {
    return undefined;
  }
}

export function toProviderOptions(provider: Provider, options: JsonObject): BaseProviderOptions {
  return plainToInstance(provider.optionsClass, options);
}

function readKey(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string' && value !== '' && value.length <= MAX_KEY_CHARACTERS) return value;
  throw invalidField(KEY, `must be a text of 1 to ${MAX_KEY_CHARACTERS} characters`);
}

function egressProblems(options: BaseProviderOptions, egress: EgressPolicy): readonly ErrorDetail[] {
  const refusal = options.base_url === undefined ? undefined : egressProblem(egress, options.base_url);
  return refusal === undefined ? [] : [{ param: BASE_URL, message: `${BASE_URL} ${refusal}` }];
}

/**
 * Anyone who can change a mapped address decides where everything is sent. So stored secrets cannot be combined with one: all
 * secrets have to be mapped as well.
 */
function assertAddressIsOurs(provider: Provider, fields: Fields, mapped: MappedTargets): void {
  if (!mapped.has(BASE_URL)) return;
  const { isSecret } = sealedConfigOf(provider);
  const inline = [...fields.keys()].find((field) => isSecret(field));
  if (inline !== undefined) throw invalidField(inline, `must come from a secret reference, as ${BASE_URL} does`);
}
