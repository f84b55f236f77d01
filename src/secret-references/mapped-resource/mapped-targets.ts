import { assertScope } from '../../access/scopes.js';
import type { Principal } from '../../access/principal.js';
import { throwIfInvalid, fieldError, type ErrorDetail, invalidField } from '../../common/errors/gateway.error.js';
import type { SecretMappingDto } from '../dto/secret-mapping.dto.js';
import type { MappedField } from '../secret-mapping.entity.js';
import { type Fields, foldOf, type SealedConfig } from './sealed-config.js';

/** Fields that take their values from secret references, each with the name that error messages use for it. */
export type MappedTargets = ReadonlyMap<string, string>;

export const NO_TARGETS: MappedTargets = new Map();

type Wanted = Pick<SecretMappingDto, 'target_field'>;
type Stored = Pick<MappedField, 'targetField'>;

/**
 * The target fields of the mappings in a request.
 * @throws GatewayError `validation_failed`, which names `secret_mappings.<i>.target_field`, when the resource has no such
 * field, when another mapping has the same one, or when the request gives the field a value as well
 */
export function readTargets(config: SealedConfig, mappings: readonly Wanted[], given: Fields): MappedTargets {
  const fold = foldOf(config);
  const fields = mappings.map((mapping) => mapping.target_field);
  const problemOf = (field: string, index: number): string | undefined => {
    if (!config.has(field)) return config.expected;
    const isRepeated = fields.slice(0, index).some((other) => fold(other) === fold(field));
    if (isRepeated) return 'must not be the target_field of another mapping';
    return isGiven(config, field, given) ? 'must not name a field that is given as well' : undefined;
  };
  throwIfInvalid(
    fields.flatMap((field, index): ErrorDetail[] => {
      const problem = problemOf(field, index);
      return problem === undefined ? [] : [fieldError(paramOf(index), problem)];
    }),
  );
  return namedTargets(mappings);
}

/**
 * The target fields after an update. Mappings that are undefined stay as they are, null removes them.
 * @throws GatewayError `validation_failed` as `readTargets`, and when the request gives a value to a field that stays mapped
 */
export function targetsAfter(
  config: SealedConfig,
  stored: readonly Stored[],
  wanted: readonly Wanted[] | null | undefined,
  given: Fields,
): MappedTargets {
  if (wanted !== undefined) return readTargets(config, wanted ?? [], given);
  const field = stored.map(({ targetField }) => targetField).find((name) => isGiven(config, name, given));
  if (field !== undefined) throw invalidField(field, 'comes from a secret reference: change secret_mappings instead');
  return storedTargets(stored);
}

/** Targets of mappings that are not checked yet. */
export function namedTargets(mappings: readonly Wanted[]): MappedTargets {
  return new Map(mappings.map(({ target_field: field }, index) => [field, paramOf(index)]));
}

export function storedTargets(mappings: readonly Stored[]): MappedTargets {
  return new Map(mappings.map(({ targetField }) => [targetField, targetField]));
}

/**
 * A caller that maps a secret decides where it is sent, so the scope of the resource alone is not enough.
 * @throws GatewayError `permission_denied`
 */
export function assertMayMap(
  principal: Principal,
  { secret_mappings: mappings }: { readonly secret_mappings?: readonly SecretMappingDto[] | null | undefined },
): void {
  if (mappings !== undefined && mappings !== null && mappings.length > 0) {
    assertScope(principal, 'secret_references.use');
  }
}

/** A field that is set to null is not given. */
function isGiven(config: SealedConfig, field: string, given: Fields): boolean {
  const fold = foldOf(config);
  return [...given].some(([name, value]) => value !== null && fold(name) === fold(field));
}

function paramOf(index: number): string {
  return `secret_mappings.${index}.target_field`;
}
