import { ApiProperty } from '@nestjs/swagger';
import type { BodyLogging } from '../access/principal.js';
import { toUnixSeconds } from '../common/time/unix-time.js';
import type { Workspace } from './workspace.entity.js';

export class WorkspaceDefaultsResponse {
  /** Metadata of every call in the workspace, unless the client or the key sets it. */
  readonly metadata?: Record<string, string>;
}

export class BodyLoggingResponse {
  /** The share of the calls whose bodies are kept: 1 for all. */
  @ApiProperty({ type: 'number', format: 'double' })
  readonly sample_rate: number;
  /** How many bytes of each body are kept; the rest is left out. */
  readonly max_bytes: number;
  /** How long they are kept. */
  readonly retention_days: number;
}

export class WorkspaceResponse {
  readonly id: string;
  readonly slug: string;
  readonly object: 'workspace';
  readonly organisation_id: string;
  readonly name: string;
  readonly description: string | null;
  readonly defaults: WorkspaceDefaultsResponse;
  /** Which bodies of calls are kept beside the log; null: none. */
  readonly log_bodies: BodyLoggingResponse | null;
  /** Unix seconds. */
  readonly created_at: number;
  /** Unix seconds. */
  readonly updated_at: number;
}

export class WorkspaceListResponse {
  readonly object: 'list';
  readonly data: WorkspaceResponse[];
  readonly total: number;
}

export function toWorkspaceResponse(workspace: Workspace): WorkspaceResponse {
  return {
    id: workspace.id,
    slug: workspace.slug,
    object: 'workspace',
    organisation_id: workspace.organisationId,
    name: workspace.name,
    description: workspace.description,
    defaults: workspace.defaults,
    log_bodies: workspace.logBodies === null ? null : toBodyLogging(workspace.logBodies),
    created_at: toUnixSeconds(workspace.createdAt),
    updated_at: toUnixSeconds(workspace.updatedAt),
  };
}

function toBodyLogging({ sampleRate, maxBytes, retentionDays }: BodyLogging): BodyLoggingResponse {
  return { sample_rate: sampleRate, max_bytes: maxBytes, retention_days: retentionDays };
}
