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

/** What keeps a workspace, by the foreign keys that lead to it. */
const KEPT_BY: ReadonlyMap<string, string> = new Map([
  ['fk_api_keys_workspace', 'API keys'],
  ['fk_virtual_keys_workspace', 'virtual keys'],
  ['fk_webhook_endpoints_workspace', 'webhooks'],
  ['fk_mcp_servers_workspace', 'MCP servers'],
  ['fk_model_routes_workspace', 'model routes'],
  ['fk_usage_policies_workspace', 'active usage-limit policies'],
]);

/** What deleting a workspace answers while something belongs to it, and undefined for every other error; names one kind. */
export function workspaceInUse(error: unknown): GatewayError | undefined {
  const kind = KEPT_BY.get(violatedForeignKey(error) ?? '');
  if (kind === undefined) return undefined;
  return new GatewayError('conflict', { message: `The workspace still has ${kind}; delete them first.`, cause: error });
}
