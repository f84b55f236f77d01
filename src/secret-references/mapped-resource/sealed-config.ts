import { originOf } from '../../common/http/origin.js';
import { throwIfInvalid, fieldError, type ErrorDetail } from '../../common/errors/gateway.error.js';
import { isMaskOf, isStaleMask, mask, staleMask } from '../../common/mask.js';

/**
 * The configuration of a resource as a flat map. Names are paths in the resource's body, as callers write them: `key`,
 * `config.base_url`, `headers.X-Api-Key`. Secrets are open in here.
 */
export type Fields = ReadonlyMap<string, unknown>;

export const NO_FIELDS: Fields = new Map();

/** Which fields a resource has, which of them are secrets, and where each secret is sent. */
export interface SealedConfig {
  /** Whether there is such a field, which can be mapped to a secret reference. */
  readonly has: (field: string) => boolean;
  /** What a field must be; follows the name of a field in an error message. */
  readonly expected: string;
  /** Secrets are sealed at rest, shown masked, and sent to no other host than they were stored for. */
  readonly isSecret: (field: string) => boolean;
  /** The field with the address to which a secret is sent; undefined: the address follows from nothing in the config. */
  readonly hostFieldOf: (secret: string) => string | undefined;
  /** Names with the same fold are one field. Without it, names are compared as they are. */
  readonly fold?: (field: string) => string;
  /** The name that error messages use for a field. Without it, the field itself. */
  readonly nameOf?: (field: string) => string;
}

export interface FieldsUpdate {
  /** Stored and decrypted. */
  readonly stored: Fields;
  /** As the caller sent them. null removes a field; the mask of a stored secret keeps it. */
  readonly given: Fields;
  /** Fields that come from secret references from now on. Their stored values are dropped. */
  readonly mapped: { keys(): Iterable<string> };
}

export interface MergedFields {
  readonly fields: Fields;
  /** Stored fields that the update does not replace. The secrets among them must not reach another host. */
  readonly kept: readonly string[];
}

/**
 * Merges an update into the stored fields.
 * @throws GatewayError `validation_failed` for masks of anything but the stored secret: a mask must never be stored, and the
 * caller has seen an older secret
 */
export function mergeFields(config: SealedConfig, { stored, given, mapped }: FieldsUpdate): MergedFields {
  const fold = foldOf(config);
  const mappedNames = new Set([...mapped.keys()].map(fold));
  const current = [...stored].filter(([field]) => !mappedNames.has(fold(field)));
  const byName = new Map(current.map(([field, value]) => [fold(field), value]));
  const storedSecret = (field: string): string | undefined => {
    const value = config.isSecret(field) ? byName.get(fold(field)) : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  throwIfInvalid(
    [...given]
      .filter(([field, value]) => config.isSecret(field) && isStaleMask(value, storedSecret(field)))
      .map(([field]) => fieldError(nameOf(config, field), staleMask())),
  );
  const update = [...given].filter(([field, value]) => !isMaskOf(value, storedSecret(field)));
  const replaced = new Set(update.map(([field]) => fold(field)));
  const kept = current.filter(([field]) => !replaced.has(fold(field)));
  // null for a field that does not exist is left in, so that the resource's own rules refuse it.
  const added = update.filter(([field, value]) => value !== null || !(config.has(field) || config.isSecret(field)));
  return { fields: new Map([...kept, ...added]), kept: kept.map(([field]) => field) };
}

export interface HostChange {
  readonly before: Fields;
  readonly after: Fields;
  /** Stored fields that the update does not replace; see `mergeFields`. */
  readonly kept: readonly string[];
  /** Mapped fields, when the update does not send the mappings again. */
  readonly keptMappings: Iterable<string>;
}

/**
 * The host rule: a secret that is stored or mapped must be sent again when its address changes to another host. Otherwise
 * anyone who may change a resource could have its secrets sent to a host of their own. Call it before sealing an update.
 * @throws GatewayError `validation_failed`
 */
export function assertSameHosts(config: SealedConfig, { before, after, kept, keptMappings }: HostChange): void {
  const problemOf = (secret: string, param: string): readonly ErrorDetail[] => {
    const address = config.hostFieldOf(secret);
    if (address === undefined || !isOtherHost(before.get(address), after.get(address))) return [];
    return [fieldError(param, `must be sent again when ${nameOf(config, address)} changes to another host`)];
  };
  const [mapping] = [...keptMappings].flatMap((field) => problemOf(field, 'secret_mappings'));
  const secrets = kept.filter((field) => config.isSecret(field));
  throwIfInvalid([
    ...secrets.flatMap((field) => problemOf(field, nameOf(config, field))),
    ...(mapping === undefined ? [] : [mapping]),
  ]);
}

/** Compares scheme, host and port. Values that are not URLs are compared as they are. */
export function isOtherHost(before: unknown, after: unknown): boolean {
  return hostOf(before) !== hostOf(after);
}

/** The secrets as answers show them. */
export function maskAll(secrets: Readonly<Record<string, unknown>>, show = mask): Record<string, string> {
  return Object.fromEntries(Object.entries(secrets).map(([name, value]) => [name, show(String(value))]));
}

export function foldOf({ fold }: SealedConfig): (field: string) => string {
  return fold ?? ((field) => field);
}

function nameOf(config: SealedConfig, field: string): string {
  return config.nameOf?.(field) ?? field;
}

function hostOf(address: unknown): unknown {
  return typeof address === 'string' ? (originOf(address) ?? address) : address;
}
