import type { EntityManager } from 'typeorm';
import type { Principal } from '../access/principal.js';
import { fieldError, GatewayError, invalidFields } from '../common/errors/gateway.error.js';
import { findWorkspaceIds } from '../workspaces/find-workspace-ids.js';
import { type SecretReference, SecretReferenceWorkspace } from './secret-reference.entity.js';

/** Which workspaces may use a reference. */
export interface WorkspaceAccess {
  readonly allowAll: boolean;
  /** Sorted; empty when all of them may. */
  readonly workspaceIds: readonly string[];
}

/** The part of a body that says which workspaces have access. */
interface WantedAccess {
  readonly allow_all_workspaces?: boolean;
  /** Ids or slugs; null takes those before away. */
  readonly allowed_workspaces?: readonly string[] | null;
}

export function accessOf(row: Pick<SecretReference, 'allowAllWorkspaces' | 'allowedWorkspaces'>): WorkspaceAccess {
  const workspaceIds = row.allowedWorkspaces.map((allowed) => allowed.workspaceId).sort();
  return { allowAll: row.allowAllWorkspaces, workspaceIds: row.allowAllWorkspaces ? [] : workspaceIds };
}

/** Whether a caller, or a resource, of a workspace may use a reference; null: of the whole organisation. */
export function mayUse(access: WorkspaceAccess, workspaceId: string | null): boolean {
  return access.allowAll || (workspaceId !== null && access.workspaceIds.includes(workspaceId));
}

/**
 * For callers of one workspace: a reference that others may use too is not theirs to change.
 * @throws GatewayError `permission_denied`
 */
export function assertMayChange({ workspaceId }: Principal, row: SecretReference): void {
  if (workspaceId === null) return;
  const { allowAll, workspaceIds } = accessOf(row);
  if (!allowAll && workspaceIds.length === 1 && workspaceIds[0] === workspaceId) return;
  throw new GatewayError('permission_denied', {
    message: 'Other workspaces may use this secret reference too: only callers of the whole organisation change it.',
  });
}

/**
 * What a body asks for, laid over what was before. Call it in the transaction that writes the answer.
 * @throws GatewayError `validation_failed` for workspaces that do not exist, `tenant_mismatch` when a caller of one
 * workspace asks for more than its own
 */
export async function readAccess(
  manager: EntityManager,
  principal: Principal,
  wanted: WantedAccess,
  before: WorkspaceAccess,
): Promise<WorkspaceAccess> {
  const { allow_all_workspaces: allowAll, allowed_workspaces: refs } = wanted;
  if (refs) return { allowAll: false, workspaceIds: await findWorkspaces(manager, principal, refs) };
  if (principal.workspaceId !== null) {
    if (allowAll === true) throw new GatewayError('tenant_mismatch', { param: 'allow_all_workspaces' });
    return { allowAll: false, workspaceIds: [principal.workspaceId] };
  }
  const isForAll = allowAll ?? before.allowAll;
  return { allowAll: isForAll, workspaceIds: isForAll || refs === null ? [] : before.workspaceIds };
}

export async function writeWorkspaces(
  manager: EntityManager,
  secretReferenceId: string,
  workspaceIds: readonly string[],
): Promise<void> {
  await manager.delete(SecretReferenceWorkspace, { secretReferenceId });
  if (workspaceIds.length === 0) return;
  await manager.insert(
    SecretReferenceWorkspace,
    workspaceIds.map((workspaceId) => ({ secretReferenceId, workspaceId })),
  );
}

/** Ids of the named workspaces, each once. None of them can be deleted before the transaction ends. */
async function findWorkspaces(
  manager: EntityManager,
  principal: Principal,
  refs: readonly string[],
): Promise<string[]> {
  const found = refs.map(await findWorkspaceIds(manager, principal, refs, { mode: 'pessimistic_read' }));
  const missing = found.flatMap((id, index) => (id === undefined ? [index] : []));
  if (missing.length > 0) throw principal.workspaceId === null ? unknownWorkspaces(missing) : notOwn(missing);
  return [...new Set(found.flatMap((id) => id ?? []))].sort();
}

function unknownWorkspaces(indices: readonly number[]): GatewayError {
  const expected = 'must be the id or slug of a workspace of the organisation';
  return invalidFields(indices.map((index) => fieldError(`allowed_workspaces.${index}`, expected)));
}

function notOwn([first]: readonly number[]): GatewayError {
  return new GatewayError('tenant_mismatch', { param: `allowed_workspaces.${first}` });
}
