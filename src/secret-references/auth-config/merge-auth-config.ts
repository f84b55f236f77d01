import { throwIfInvalid, type ErrorDetail } from '../../common/errors/gateway.error.js';
import type { JsonObject } from '../../common/json/read.js';
import { isMaskOf, staleMask } from '../../common/mask.js';
import { NO_TARGETS } from '../mapped-resource/mapped-targets.js';
import { assertSameHosts, mergeFields, type SealedConfig } from '../mapped-resource/sealed-config.js';
import type { AuthConfig } from '../managers/secret-manager.types.js';
import type { AuthScheme } from './auth-scheme.types.js';
import { type GivenAuthConfig, problem } from './given-auth-config.js';
import { allFieldsOf, fieldsOf, generatedField } from './scheme-fields.js';

/**
 * Merges what a caller sent into what is stored: field by field, `null` removes one, and masked secrets that come back count
 * as unchanged. Stored fields that a newly chosen variant does not have are dropped. For a create, nothing is stored.
 * @param generate makes the value of the field that only the gateway may choose
 * @throws GatewayError `validation_failed`, also when stored secrets would reach another host than they were stored for
 */
export function mergeAuthConfig(
  scheme: AuthScheme,
  stored: AuthConfig,
  given: GivenAuthConfig,
  generate: () => string,
): JsonObject {
  throwIfInvalid([...staleMasks(stored, given), ...unknownRemovals(scheme, given)]);
  const config = sealedConfigOf(scheme, given);
  const before = new Map(Object.entries(stored));
  const merged = mergeFields(config, { stored: before, given: given.fields, mapped: NO_TARGETS });
  const variant = merged.fields.get(scheme.discriminator);
  const isNewVariant = variant !== stored[scheme.discriminator];
  const fields = isNewVariant ? fieldsOf(scheme, variant) : undefined;
  const kept = merged.kept.filter((field) => fields?.has(field) !== false);
  const dropped = new Set(merged.kept.filter((field) => !kept.includes(field)));
  const after = new Map([...merged.fields].filter(([field]) => !dropped.has(field)));
  const generated = generatedField(scheme, variant);
  const old = generated === undefined ? undefined : stored[generated];
  if (generated !== undefined) throwIfInvalid(choiceOfTheGateway(generated, old, given));
  assertSameHosts(config, { before, after, kept, keptMappings: [] });
  if (generated !== undefined) after.set(generated, old ?? generate());
  return Object.fromEntries(after);
}

/** The scheme's fields, by the interface's names; error messages use the caller's names. */
function sealedConfigOf(scheme: AuthScheme, { nameOf }: GivenAuthConfig): SealedConfig {
  const known = allFieldsOf(scheme);
  return {
    has: (field) => known.has(field),
    expected: `must be one of ${[...known].map(nameOf).join(', ')}`,
    isSecret: (field) => scheme.sensitive.has(field),
    hostFieldOf: () => scheme.hostField,
    nameOf: (field) => `auth_config.${nameOf(field)}`,
  };
}

/** A mask shows which secret the caller has seen. When another one is stored by now, the caller should know. */
function staleMasks(stored: AuthConfig, { masks, nameOf }: GivenAuthConfig): readonly ErrorDetail[] {
  return [...masks]
    .filter(([field, { value }]) => !isMaskOf(value, ownText(stored, field)))
    .map(([field, { name }]) =>
      problem(name, ownText(stored, field) === undefined ? 'is not a known field' : staleMask(nameOf(field))),
    );
}

function unknownRemovals(scheme: AuthScheme, { fields, nameOf }: GivenAuthConfig): readonly ErrorDetail[] {
  const known = allFieldsOf(scheme);
  return [...fields]
    .filter(([field, value]) => value === null && !known.has(field))
    .map(([field]) => problem(nameOf(field), 'is not a known field'));
}

function choiceOfTheGateway(field: string, old: string | undefined, given: GivenAuthConfig): readonly ErrorDetail[] {
  const value = given.fields.get(field);
  if (value === undefined || value === null || value === old) return [];
  return [problem(given.nameOf(field), 'is chosen by the gateway; leave it out and read it from the answer')];
}

/** The names of fields come from callers, and `constructor` is a field of every object. */
function ownText(config: AuthConfig, field: string): string | undefined {
  return Object.hasOwn(config, field) ? config[field] : undefined;
}
