import { GatewayError } from '../common/errors/gateway.error.js';
import { violatedForeignKey } from '../database/database-errors.js';

/** Foreign keys are named `fk_<table>_<what they point to>`. */
const TO_WORKSPACE = /^fk_.+_workspace$/;

/** Whether a row could not be written because its workspace was deleted after it had been looked up. */
export function isWorkspaceGone(error: unknown): boolean {
  return TO_WORKSPACE.test(violatedForeignKey(error) ?? '');
}

/** What creating something answers for a workspace that is not there, or not the caller's. */
export function unknownWorkspace(cause?: unknown): GatewayError {
  return new GatewayError('tenant_mismatch', { param: 'workspace_id', cause });
}
