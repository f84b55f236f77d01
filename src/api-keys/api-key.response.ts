import { ApiProperty } from '@nestjs/swagger';
import { expiryStatus } from '../common/time/expiry-status.js';
import { toUnixSeconds } from '../common/time/unix-time.js';
import type { ApiKey } from './api-key.entity.js';
import { shownLimits } from './rate-limit-counters.js';
import { KeyUserDto, RateLimitDto } from './dto/api-key.dto.js';

export class CreatedApiKeyResponse {
  readonly id: string;
  readonly object: 'api-key';
  /** The key itself. It is shown here once and cannot be read again. */
  readonly key: string;
}

export class RotatedApiKeyResponse extends CreatedApiKeyResponse {
  /** Unix seconds until which the previous secret still works. */
  readonly previous_valid_until: number;
}

export class ApiKeyResponse {
  readonly id: string;
  readonly object: 'api-key';
  readonly name: string;
  readonly description: string | null;
  /** How the key begins. */
  readonly prefix: string;
  /** `active` or `expired`. */
  readonly status: 'active' | 'expired';
  /** `service` or `user`. */
  readonly type: string;
  /** `workspace` or `organisation`. */
  readonly level: string;
  readonly organisation_id: string;
  /** The workspace of the key; null for a key of the organisation. */
  readonly workspace_id: string | null;
  /** The operations that the key may call. */
  readonly scopes: string[];
  /** The user of a `user` key. */
  readonly user: KeyUserDto | null;
  /** Metadata of every call with this key; clients cannot change it. */
  readonly metadata: Record<string, string>;
  /** How many requests the key may send. */
  readonly rate_limits: RateLimitDto[];
  /** The MCP servers that the key may use, by slug or id; null: all. */
  readonly allowed_mcp_servers: string[] | null;
  /** The tools of MCP servers that the key may use, as patterns `<server>/<tool>`; null: all. */
  readonly allowed_mcp_tools: string[] | null;

  /** Models that calls may use; null: all. */
  @ApiProperty({ type: [String], nullable: true })
  readonly allowed_models: string[] | null;
  /** Ids of the virtual keys that calls may use; null: all. */
  @ApiProperty({ type: [String], nullable: true })
  readonly allowed_virtual_keys: string[] | null;
  /** Id of the virtual key for calls that name none; null: none. */
  readonly default_virtual_key: string | null;
  /** Unix seconds; null: never. */
  readonly expires_at: number | null;
  /** Unix seconds, at most a minute old; null: never. */
  readonly last_used_at: number | null;
  /** Id of the API key, or subject of the administrator's token; `gateway` at the first start and by commands; null: not known. */
  readonly created_by: string | null;
  /** Unix seconds. */
  readonly created_at: number;
  /** Unix seconds. */
  readonly updated_at: number;
}

export class ApiKeyListResponse {
  readonly object: 'list';
  readonly data: ApiKeyResponse[];
  readonly total: number;
}

export function toApiKeyResponse(key: ApiKey, now: Date): ApiKeyResponse {
  return {
    id: key.id,
    object: 'api-key',
    name: key.name,
    description: key.description,
    prefix: key.prefix,
    status: expiryStatus(key.expiresAt, now),
    type: key.type,
    level: key.workspaceId === null ? 'organisation' : 'workspace',
    organisation_id: key.organisationId,
    workspace_id: key.workspaceId,
    scopes: key.scopes,
    user: key.user,
    metadata: key.metadata,
    rate_limits: shownLimits(key.rateLimits),
    allowed_mcp_servers: key.allowedMcpServers,
    allowed_mcp_tools: key.allowedMcpTools,
    allowed_models: key.allowedModels,
    allowed_virtual_keys: key.allowedVirtualKeys,
    default_virtual_key: key.defaultVirtualKeyId,
    expires_at: toUnixSeconds(key.expiresAt),
    last_used_at: toUnixSeconds(key.lastUsedAt),
    created_by: key.createdBy,
    created_at: toUnixSeconds(key.createdAt),
    updated_at: toUnixSeconds(key.updatedAt),
  };
}
