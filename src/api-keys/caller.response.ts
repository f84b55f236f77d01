import { ApiProperty } from '@nestjs/swagger';
import { toUnixSeconds } from '../common/time/unix-time.js';
import type { Organisation } from '../workspaces/organisation.entity.js';
import { KeyUserDto, RateLimitDto } from './dto/api-key.dto.js';

export class OrganisationResponse {
  readonly id: string;
  readonly slug: string;
  readonly object: 'organisation';
  readonly name: string;
  /** Unix seconds. */
  readonly created_at: number;
}

export class OrganisationListResponse {
  readonly object: 'list';
  readonly data: OrganisationResponse[];
  readonly total: number;
}

export class CallerWorkspaceResponse {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
}

export class CallerResponse {
  readonly object: 'caller';
  /** `api_key`, or `admin_token` for tokens and for people who logged in. */
  readonly type: 'api_key' | 'admin_token';
  /** Id of the API key, or subject of the administrator's token. */
  readonly id: string;
  /** Name of the API key or of the person; null for a token. */
  readonly name: string | null;
  /** The operations that the caller may use. */
  readonly scopes: string[];
  /** The user of a `user` key. */
  @ApiProperty({ type: KeyUserDto, nullable: true })
  readonly user: KeyUserDto | null;
  /** null: the token grants several organisations, and the request names none. `GET /v1/organisations` lists them. */
  @ApiProperty({ type: OrganisationResponse, nullable: true })
  readonly organisation: OrganisationResponse | null;
  /** The one workspace that the caller acts in; null: all of the organisation. */
  readonly workspace_id: string | null;
  /** The workspaces that the caller acts in, at most 100, by name. `GET /v1/workspaces` lists all. */
  readonly workspaces: CallerWorkspaceResponse[];
  /** Metadata of every call with the key. */
  readonly metadata: Record<string, string>;
  /** How many requests the key may make. */
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
  /** Unix seconds; null: never, or a token. */
  readonly expires_at: number | null;
}

export function toOrganisationResponse({ id, slug, name, createdAt }: Organisation): OrganisationResponse {
  return { id, slug, object: 'organisation', name, created_at: toUnixSeconds(createdAt) };
}
