import { ApiProperty } from '@nestjs/swagger';
import { toUnixSeconds } from '../common/time/unix-time.js';
import type { AuditedUser } from './audit-record.js';
import type { AuditLogEntry } from './audit-log-entry.entity.js';

class AuditedUserResponse implements AuditedUser {
  /** The id of the user in your own system. */
  readonly user_id: string;
  /** The user's email address. */
  readonly email?: string;
  /** The user's name. */
  readonly username?: string;
  /** Subject of the user at the company's identity provider. */
  readonly sub?: string;
}

export class AuditLogEntryResponse {
  readonly id: string;
  readonly object: 'audit-log-entry';
  /** The workspace of the resource; null: the whole organisation. */
  readonly workspace_id: string | null;
  /** `api_key`, `admin_token` or `gateway`. */
  readonly actor_type: string;
  /** Id of the API key, or subject of the administrator's token. */
  readonly actor_id: string;
  /** Name of the API key at that time; null for other actors. */
  readonly actor_name: string | null;
  /** IP address of the client; null where there was no request. */
  readonly client_address: string | null;
  /** What was done, for example `create` or `update`. */
  readonly action: string;
  /** The kind of the resource. */
  readonly resource_type: string;
  /** The id of the resource. */
  readonly resource_id: string;
  /** Name of the resource at that time, or its slug or URL. */
  readonly resource_name: string | null;
  /** The fields that the request named. */
  readonly changed_fields: string[];
  /** The old and the new value of each changed field, by its path: `{"old", "new"}`, or the text `changed` for a secret. */
  readonly changes: Record<string, unknown>;
  /** The user for whom the changed API key speaks; null for other resources, and for keys without a user. */
  @ApiProperty({ type: AuditedUserResponse, nullable: true })
  readonly user: AuditedUser | null;
  /** The trace id of the request; null when there was no request. */
  readonly trace_id: string | null;
  /** Unix seconds. */
  readonly created_at: number;
}

export function toAuditLogEntryResponse(entry: AuditLogEntry): AuditLogEntryResponse {
  return {
    id: entry.id,
    object: 'audit-log-entry',
    workspace_id: entry.workspaceId,
    actor_type: entry.actorType,
    actor_id: entry.actorId,
    actor_name: entry.actorName,
    client_address: entry.clientAddress,
    action: entry.action,
    resource_type: entry.resourceType,
    resource_id: entry.resourceId,
    resource_name: entry.resourceName,
    changes: entry.changes,
    changed_fields: entry.changedFields,
    user: entry.user,
    trace_id: entry.traceId,
    created_at: toUnixSeconds(entry.createdAt),
  };
}

export class AuditLogListResponse {
  readonly object: 'list';
  readonly data: AuditLogEntryResponse[];
  /** Number of entries on all pages; null where it was not counted (`include_total`). */
  readonly total: number | null;
  /** Whether there is a page after this one. */
  readonly has_more: boolean;
}
