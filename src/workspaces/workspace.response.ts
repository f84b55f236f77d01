import { toUnixSeconds } from '../common/time/unix-time.js';
import type { Workspace } from './workspace.entity.js';

export class WorkspaceDefaultsResponse {
  /** Metadata of every call in the workspace, unless the client or the key sets it. */
  readonly metadata?: Record<string, string>;
}

export class WorkspaceResponse {
  readonly id: string;
  readonly slug: string;
  readonly object: 'workspace';
  readonly organisation_id: string;
  readonly name: string;
  readonly description: string | null;
  readonly defaults: WorkspaceDefaultsResponse;
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
    created_at: toUnixSeconds(workspace.createdAt),
    updated_at: toUnixSeconds(workspace.updatedAt),
  };
}
