import { type EntityManager, In } from 'typeorm';
import { refWhere } from '../../access/tenant-where.js';
import { throwIfInvalid, fieldError } from '../../common/errors/gateway.error.js';
import { isUuid } from '../../common/uuid.js';
import type { SecretMappingDto } from '../dto/secret-mapping.dto.js';
import { type MappedField, SecretMapping, type SecretOwnerType } from '../secret-mapping.entity.js';
import { SecretReference, SecretReferenceWorkspace } from '../secret-reference.entity.js';
import { type SecretDestination, whyNotSentTo } from '../secret-destination.js';
import { accessOf, mayUse } from '../workspace-access.js';

/** The resource whose fields take their values from secrets. */
export interface SecretOwner {
  readonly type: SecretOwnerType;
  readonly id: string;
  readonly slug: string;
  readonly organisationId: string;
  /** null: the whole organisation. */
  readonly workspaceId: string | null;
}

/**
 * The wanted mappings as they are stored, in the order in which they are read. `readTargets` has checked the target fields.
 * Call it in the transaction that writes the resource.
 * @param destinationOf where the value of a target field will be sent
 * @throws GatewayError `validation_failed` for a reference that does not exist, that the owner may not use, or whose value may
 * not be sent there
 */
export async function resolveMappings(
  manager: EntityManager,
  owner: SecretOwner,
  wanted: readonly SecretMappingDto[],
  destinationOf: (targetField: string) => SecretDestination,
): Promise<readonly MappedField[]> {
  const usable = await usableReferences(manager, owner, wanted);
  const meant = wanted.map(({ secret_reference_id: ref }) => usable.find((reference) => isMeant(reference, ref)));
  assertAllFound(meant);
  throwIfInvalid(
    meant.flatMap((reference, index) => {
      const field = wanted[index]?.target_field ?? '';
      const problem = reference && whyNotSentTo(reference, destinationOf(field));
      return problem === undefined ? [] : [fieldError(paramOf(index), problem)];
    }),
  );
  return wanted
    .map((mapping, index): MappedField => {
      const { target_field: targetField, secret_key: secretKey, value_format: valueFormat } = mapping;
      const secretReferenceId = meant[index]?.id ?? '';
      return { targetField, secretReferenceId, secretKey: secretKey ?? null, valueFormat: valueFormat ?? 'string' };
    })
    .sort((a, b) => (a.targetField < b.targetField ? -1 : 1));
}

/** Replaces all mappings of the owner. */
export async function replaceMappings(
  manager: EntityManager,
  owner: SecretOwner,
  fields: readonly MappedField[],
): Promise<void> {
  const { type: ownerType, id: ownerId, slug: ownerSlug, organisationId, workspaceId: ownerWorkspaceId } = owner;
  await manager.delete(SecretMapping, { organisationId, ownerType, ownerId });
  const rows = fields.map((field) => ({ ...field, organisationId, ownerType, ownerId, ownerSlug, ownerWorkspaceId }));
  if (rows.length > 0) await manager.insert(SecretMapping, rows);
}

/** The named references that the owner may use. They are locked, so they stay usable until the transaction ends. */
async function usableReferences(
  manager: EntityManager,
  { organisationId, workspaceId }: SecretOwner,
  wanted: readonly SecretMappingDto[],
): Promise<readonly SecretReference[]> {
  if (wanted.length === 0) return [];
  const refs = new Set(wanted.map((mapping) => mapping.secret_reference_id));
  const found = await manager.find(SecretReference, {
    select: { id: true, slug: true, allowAllWorkspaces: true, allowedHosts: true, allowedProviders: true },
    where: [...refs].map((ref) => ({ ...refWhere(ref), organisationId })),
    lock: { mode: 'pessimistic_read' },
  });
  // Read after the lock, and not with it: a change that the lock waited for may have been of these.
  const workspaces = await manager.findBy(SecretReferenceWorkspace, {
    secretReferenceId: In(found.map(({ id }) => id)),
  });
  return found.filter((reference) => {
    const allowedWorkspaces = workspaces.filter(({ secretReferenceId }) => secretReferenceId === reference.id);
    const { allowAllWorkspaces } = reference;
    return mayUse(accessOf({ allowAllWorkspaces, allowedWorkspaces }), workspaceId);
  });
}

function isMeant({ id, slug }: SecretReference, ref: string): boolean {
  return isUuid(ref) ? id === ref.toLowerCase() : slug === ref;
}

/** One message for unknown references, those of another organisation and those of other workspaces. */
function assertAllFound(meant: readonly (SecretReference | undefined)[]): void {
  const expected = 'must be the id or slug of a secret reference that may be used here';
  throwIfInvalid(
    meant.flatMap((reference, index) => (reference === undefined ? [fieldError(paramOf(index), expected)] : [])),
  );
}

function paramOf(index: number): string {
  return `secret_mappings.${index}.secret_reference_id`;
}
