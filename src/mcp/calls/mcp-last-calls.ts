import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Principal } from '../../access/principal.js';
import { type LastCall, type McpLastCallResponse, toLastCallResponse } from './mcp-last-call.response.js';

const LAST_CALLS = `
  SELECT server.id AS "serverId", call.created_at AS "createdAt", call.status, call.outcome, call.error_code AS "errorCode"
  FROM unnest($3::uuid[]) AS server (id)
  CROSS JOIN LATERAL (
    SELECT created_at, status, outcome, error_code FROM mcp_calls
    WHERE organisation_id = $1 AND server_id = server.id AND ($2::uuid IS NULL OR workspace_id = $2)
    ORDER BY created_at DESC, id DESC LIMIT 1
  ) AS call`;

interface LastCallRow extends LastCall {
  readonly serverId: string;
}

/** Reads how the last calls of servers ended, always within one tenant. */
@Injectable()
export class McpLastCalls {
  constructor(private readonly dataSource: DataSource) {}

  /** By the id of the server. Empty for a caller who may not list calls. */
  async of(principal: Principal, serverIds: readonly string[]): Promise<ReadonlyMap<string, McpLastCallResponse>> {
    const { organisationId, workspaceId, scopes } = principal;
    if (!scopes.has('mcp_servers.read') || serverIds.length === 0) return new Map();
    const rows = await this.dataSource.query<LastCallRow[]>(LAST_CALLS, [organisationId, workspaceId, serverIds]);
    return new Map(rows.map((row) => [row.serverId, toLastCallResponse(row)]));
  }
}
