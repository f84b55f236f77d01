import { toUnixSeconds } from '../common/time/unix-time.js';
import { authScheme } from './auth-config/auth-schemes.js';
import type { SecretReference } from './secret-reference.entity.js';

export class SecretReferenceResponse {
  readonly id: string;
  readonly slug: string;
  readonly object: 'secret-reference';
  readonly organisation_id: string;
  readonly name: string;
  readonly description: string | null;
  /** The secret manager, in the spelling of the request that created it. */
  readonly manager_type: string;
  /** The credentials for the manager. Each secret field `f` is shown only as `masked_f`. */
  readonly auth_config: Record<string, string>;
  /** Where the secret is in its manager. */
  readonly secret_path: string;
  /** The key inside the secret; null: the whole secret. */
  readonly secret_key: string | null;
  /** null: the current one. */
  readonly secret_version: string | null;
  /** Whether every workspace of the organisation may use the reference. */
  readonly allow_all_workspaces: boolean;
  /** Ids; null where there is no list. A caller of one workspace sees its own only. */
  readonly allowed_workspaces: string[] | null;
  /** Hosts to which the value may be sent; null: all. */
  readonly allowed_hosts: string[] | null;
  /** Providers whose virtual keys may use the value; null: all, and MCP servers. */
  readonly allowed_providers: string[] | null;
  /** Your own labels. */
  readonly tags: Record<string, unknown> | null;
  /** Always `active`. */
  readonly status: 'active';
  /** Id of the API key, or subject of the administrator's token. */
  readonly created_by: string;
  /** Unix seconds; null: never. */
  readonly last_resolved_at: number | null;
  /** Code of what went wrong when the secret was last fetched; null: nothing. */
  readonly last_error: string | null;
  /** Unix seconds. */
  readonly created_at: number;
  /** Unix seconds. */
  readonly updated_at: number;
}

export class SecretReferenceListResponse {
  readonly object: 'list';
  readonly data: SecretReferenceResponse[];
  readonly total: number;
}

export class SecretReferenceTestResponse {
  /** Whether the secret could be read. */
  readonly ok: boolean;
  /** How long the test took. */
  readonly latency_ms: number;
  /** Code of what went wrong, when it could not. */
  readonly error?: string;
  /** Where the call to the manager failed: `dns`, `connect`, `tls`, `egress_refused`, `timeout`, and so on. */
  readonly reason?: string;
}

export function toSecretReferenceResponse(
  row: SecretReference,
  authConfig: Record<string, string>,
  allowedWorkspaces: readonly string[],
): SecretReferenceResponse {
  return {
    id: row.id,
    slug: row.slug,
    object: 'secret-reference',
    organisation_id: row.organisationId,
    name: row.name,
    description: row.description,
    manager_type: authScheme(row.managerType).names[row.spelling].managerType,
    auth_config: authConfig,
    secret_path: row.secretPath,
    secret_key: row.secretKey,
    secret_version: row.secretVersion,
    allow_all_workspaces: row.allowAllWorkspaces,
    allowed_workspaces: allowedWorkspaces.length === 0 ? null : [...allowedWorkspaces],
    allowed_hosts: row.allowedHosts,
    allowed_providers: row.allowedProviders,
    tags: row.tags,
    status: 'active',
    created_by: row.createdBy,
    last_resolved_at: toUnixSeconds(row.lastResolvedAt),
    last_error: row.lastError,
    created_at: toUnixSeconds(row.createdAt),
    updated_at: toUnixSeconds(row.updatedAt),
  };
}
