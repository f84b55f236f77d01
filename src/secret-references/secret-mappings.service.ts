import { Injectable } from '@nestjs/common';
import { type EntityManager, In } from 'typeorm';
import { refWhere } from '../access/tenant-where.js';
import { throwIfInvalid, fieldError, type ErrorDetail } from '../common/errors/gateway.error.js';
import { isUuid } from '../common/uuid.js';
import type { SecretMappingDto } from './dto/secret-mapping.dto.js';
import { type MappedField, SecretMapping, type SecretOwnerType } from './secret-mapping.entity.js';
import { SecretReferenceWorkspace } from './secret-reference-workspace.entity.js';
import { SecretReference } from './secret-reference.entity.js';
import { accessOf, mayUse } from './workspace-access.js';

/** The resource whose fields take their values from secrets. */
export interface SecretOwner {
  readonly type: SecretOwnerType;
  readonly id: string;
  readonly slug: string;
  readonly organisationId: string;
  /** null: the whole organisation. */
  readonly workspaceId: string | null;
}

/** Writes which fields of a resource take their values from secret references. Always in the resource's own transaction. */
@Injectable()
export class SecretMappingsService {
  /**
   * The mappings that are asked for, in the order in which they are read. Which fields there are is the owner's to check.
   * @throws GatewayError `validation_failed`: a field twice, or a reference that the owner may not use, existing or not
   */
  async resolve(
    manager: EntityManager,
    owner: SecretOwner,
    wanted: readonly SecretMappingDto[],
  ): Promise<readonly MappedField[]> {
    assertUnique(wanted);
    const usable = await usableReferences(manager, owner, wanted);
    const ids = wanted.map(({ secret_reference_id: ref }) => usable.find((reference) => isMeant(reference, ref))?.id);
    assertAllFound(ids);
    return wanted
      .map((mapping, index): MappedField => {
        const { target_field: targetField, secret_key: secretKey, value_format: valueFormat } = mapping;
        const secretReferenceId = ids[index] ?? '';
        return { targetField, secretReferenceId, secretKey: secretKey ?? null, valueFormat: valueFormat ?? 'string' };
      })
      .sort((a, b) => (a.targetField < b.targetField ? -1 : 1));
  }

  /** Puts these in the place of all that the owner has. */
  async replace(manager: EntityManager, owner: SecretOwner, fields: readonly MappedField[]): Promise<void> {
    await this.remove(manager, owner);
    const rows = fields.map((field) => ({ ...field, ...columnsOf(owner) }));
    if (rows.length > 0) await manager.insert(SecretMapping, rows);
  }

  async remove(manager: EntityManager, { organisationId, type, id }: Omit<SecretOwner, 'slug'>): Promise<void> {
    await manager.delete(SecretMapping, { organisationId, ownerType: type, ownerId: id });
  }
}

function columnsOf({ type, id, slug, organisationId, workspaceId }: SecretOwner) {
  return { organisationId, ownerType: type, ownerId: id, ownerSlug: slug, ownerWorkspaceId: workspaceId };
}

/** Those of the named references that the owner may use. Until the transaction ends they stay, and stay usable. */
async function usableReferences(
  manager: EntityManager,
  { organisationId, workspaceId }: SecretOwner,
  wanted: readonly SecretMappingDto[],
): Promise<readonly SecretReference[]> {
  if (wanted.length === 0) return [];
  const refs = new Set(wanted.map((mapping) => mapping.secret_reference_id));
  const found = await manager.find(SecretReference, {
    select: { id: true, slug: true, allowAllWorkspaces: true },
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

function assertUnique(wanted: readonly SecretMappingDto[]): void {
  const fields = wanted.map((mapping) => mapping.target_field);
  const repeated = fields.map((field, index) => fields.indexOf(field) < index);
  refuse(repeated, 'target_field', 'must not be the target_field of another mapping');
}

/** One sentence for unknown references, another organisation's, and those of other workspaces. */
function assertAllFound(ids: readonly (string | undefined)[]): void {
  const missing = ids.map((id) => id === undefined);
  refuse(missing, 'secret_reference_id', 'must be the id or slug of a secret reference that may be used here');
}

function refuse(broken: readonly boolean[], field: keyof SecretMappingDto, expected: string): void {
  const details = broken.flatMap((isBroken, index): ErrorDetail[] => {
    const param = `secret_mappings.${index}.${field}`;
    return isBroken ? [fieldError(param, expected)] : [];
  });
  throwIfInvalid(details);
}
