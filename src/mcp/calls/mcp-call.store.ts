import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { toStorableOrNull, toStorableText } from '../../common/storable-text.js';
import { type PreparedRow, type RowShape, GroupedInsert } from '../../database/grouped-insert.js';
import { McpCall } from './mcp-call.entity.js';

/** The columns of a row. */
export type McpCallRow = Pick<McpCall, keyof McpCall>;

const MAX_INTEGER = 2 ** 31 - 1;

@Injectable()
export class McpCallStore {
  private readonly rows: GroupedInsert<McpCallRow>;

  constructor(@InjectRepository(McpCall) calls: Repository<McpCall>) {
    this.rows = new GroupedInsert(calls, calls.metadata, OWN, SHAPE);
  }

  prepare(call: McpCallRow): PreparedRow {
    return this.rows.prepare(call);
  }

  /** Existing rows are kept: a batch is sent again when the database wrote it and could not confirm it. */
  insert(rows: readonly PreparedRow[]): Promise<void> {
    return this.rows.insert(rows);
  }
}

const OWN = ['id', 'first_byte_ms', 'total_ms', 'bytes_in', 'bytes_out', 'trace_id', 'created_at'];

/** Values of clients are cut to fit the columns; a stream may be open for longer than 2^31 ms. */
const SHAPE: RowShape<McpCallRow> = {
  isAlike: (one, other) =>
    one.callerId === other.callerId &&
    one.serverId === other.serverId &&
    one.tool === other.tool &&
    one.userId === other.userId &&
    one.rpcMethod === other.rpcMethod &&
    one.status === other.status &&
    one.errorCode === other.errorCode &&
    one.outcome === other.outcome &&
    one.rpcErrorCode === other.rpcErrorCode &&
    one.httpMethod === other.httpMethod &&
    one.callerType === other.callerType &&
    one.organisationId === other.organisationId &&
    one.workspaceId === other.workspaceId &&
    one.serverSlug === other.serverSlug,
  sharedOf: (call) => ({
    organisation_id: call.organisationId,
    workspace_id: call.workspaceId,
    server_id: call.serverId,
    server_slug: call.serverSlug,
    caller_type: call.callerType,
    caller_id: toStorableText(call.callerId, 255),
    user_id: toStorableOrNull(call.userId, 255),
    http_method: call.httpMethod,
    rpc_method: toStorableOrNull(call.rpcMethod, 128),
    tool: toStorableOrNull(call.tool, 255),
    status: call.status,
    error_code: call.errorCode,
    outcome: call.outcome,
    rpc_error_code: call.rpcErrorCode,
  }),
  ownOf: (call) => ({
    id: call.id,
    first_byte_ms: call.firstByteMs === null ? null : Math.min(call.firstByteMs, MAX_INTEGER),
    total_ms: Math.min(call.totalMs, MAX_INTEGER),
    bytes_in: call.bytesIn,
    bytes_out: call.bytesOut,
    trace_id: toStorableOrNull(call.traceId, 128),
    created_at: call.createdAt.getTime(),
  }),
};
