import { type AuditRecord, auditRecords } from '../audit/audit-record.js';
import type { WorkspaceAccess } from './workspace-access.js';

type Verb = 'create' | 'update' | 'delete' | 'test';

const recordOf = auditRecords<Verb>('secret_references', 'secret-reference');

/** An entry belongs to a workspace when the reference is for that one only. */
export function entryOf(
  verb: Verb,
  id: string,
  access: WorkspaceAccess,
  changedFields: readonly string[],
): AuditRecord {
  const [workspaceId = null, another] = access.workspaceIds;
  return recordOf(verb, { id, workspaceId: another === undefined ? workspaceId : null }, changedFields);
}
