import { throwIfInvalid, type ErrorDetail } from '../../common/errors/gateway.error.js';
import type { JsonObject } from '../../common/json/read.js';
import { isMaskOf, isStaleMask, staleMask } from '../../common/mask.js';
import { isOtherHost, mustResend } from '../../common/secret-destination.js';
import type { AuthConfig, ManagerType } from '../managers/secret-manager.types.js';
import type { AuthScheme } from './auth-scheme.types.js';
import { type GivenAuthConfig, problem } from './given-auth-config.js';
import { allFieldsOf, fieldsOf, generatedField } from './scheme-fields.js';

/** The field that says which host gets the credentials. AWS's own hosts follow from its region. */
const HOST_FIELDS: Readonly<Partial<Record<ManagerType, string>>> = {
  cloudB_kv: 'cloudB_vault_url',
  vendorC_vault: 'vendorC_addr',
};

/**
 * Lays what a caller sent over what is stored: field by field, `null` takes one out, and masked secrets that come back
 * count as unchanged. Fields that a newly chosen variant lacks go. For a create, nothing is stored.
 * @param generate makes the value of the field that is the gateway's to choose
 * @throws GatewayError `validation_failed` also when stored secrets would go to another host than they were stored for
 */
export function mergeAuthConfig(
  scheme: AuthScheme,
  stored: AuthConfig,
  given: GivenAuthConfig,
  generate: () => string,
): JsonObject {
  throwIfInvalid([
    ...staleMasks(stored, given),
    ...staleFields(scheme, stored, given),
    ...unknownRemovals(scheme, given),
  ]);
  const update = new Map([...given.fields].filter(([field, value]) => !isMaskOf(value, ownText(stored, field))));
  const kept = keptFields(scheme, stored, update);
  throwIfInvalid([
    ...choicesOfTheGateway(scheme, kept, update, given),
    ...secretsForAnotherHost(scheme, kept, update, given),
  ]);

  const merged = new Map<string, unknown>([...Object.entries(kept), ...update]);
  for (const [field, value] of update) if (value === null) merged.delete(field);
  const own = generatedField(scheme, merged.get(scheme.discriminator));
  if (own !== undefined) merged.set(own, kept[own] ?? generate());
  return Object.fromEntries(merged);
}

/** What is stored, without what a newly chosen variant lacks. */
function keptFields(scheme: AuthScheme, stored: AuthConfig, update: ReadonlyMap<string, unknown>): AuthConfig {
  const chosen = update.get(scheme.discriminator);
  const fields = fieldsOf(scheme, chosen);
  if (fields === undefined || chosen === stored[scheme.discriminator]) return stored;
  return Object.fromEntries(Object.entries(stored).filter(([field]) => fields.has(field)));
}

/** A mask tells which secret the caller saw. When that is no longer the stored one, the caller should know. */
function staleMasks(stored: AuthConfig, { masks, nameOf }: GivenAuthConfig): readonly ErrorDetail[] {
  return [...masks]
    .filter(([field, { value }]) => !isMaskOf(value, ownText(stored, field)))
    .map(([field, { name }]) =>
      problem(name, ownText(stored, field) === undefined ? 'is not a known field' : staleMask(nameOf(field))),
    );
}

/** The same for masks under the own names of secrets. */
function staleFields(
  scheme: AuthScheme,
  stored: AuthConfig,
  { fields, nameOf }: GivenAuthConfig,
): readonly ErrorDetail[] {
  return [...fields]
    .filter(([field, value]) => scheme.sensitive.has(field) && isStaleMask(value, ownText(stored, field)))
    .map(([field]) => problem(nameOf(field), staleMask()));
}

function unknownRemovals(scheme: AuthScheme, { fields, nameOf }: GivenAuthConfig): readonly ErrorDetail[] {
  const known = allFieldsOf(scheme);
  return [...fields]
    .filter(([field, value]) => value === null && !known.has(field))
    .map(([field]) => problem(nameOf(field), 'is not a known field'));
}

function choicesOfTheGateway(
  scheme: AuthScheme,
  kept: AuthConfig,
  update: ReadonlyMap<string, unknown>,
  { nameOf }: GivenAuthConfig,
): readonly ErrorDetail[] {
  const field = generatedField(scheme, update.get(scheme.discriminator) ?? kept[scheme.discriminator]);
  const value = field === undefined ? undefined : update.get(field);
  if (field === undefined || value === undefined || value === null || value === kept[field]) return [];
  return [problem(nameOf(field), 'is chosen by the gateway; leave it out and read it from the answer')];
}

function secretsForAnotherHost(
  scheme: AuthScheme,
  kept: AuthConfig,
  update: ReadonlyMap<string, unknown>,
  { nameOf }: GivenAuthConfig,
): readonly ErrorDetail[] {
  const field = HOST_FIELDS[scheme.manager];
  if (field === undefined || !update.has(field) || !isOtherHost(kept[field], update.get(field))) return [];
  return [...scheme.sensitive]
    .filter((secret) => kept[secret] !== undefined && !update.has(secret))
    .map((secret) => problem(nameOf(secret), mustResend(nameOf(field))));
}

/** The names of fields come from callers, and `constructor` is a field of every object. */
function ownText(config: AuthConfig, field: string): string | undefined {
  return Object.hasOwn(config, field) ? config[field] : undefined;
}
