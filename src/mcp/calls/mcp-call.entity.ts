import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { CallOutcome } from './call-outcome.types.js';

/** One request to an MCP server: who called what, and how it ended. No arguments, no results. */
@Entity('mcp_calls')
@Index('ix_mcp_calls_server', ['organisationId', 'serverId', 'createdAt'])
@Index('ix_mcp_calls_created_at', ['createdAt'])
@Index('ix_mcp_calls_user', ['organisationId', 'serverId', 'userId', 'createdAt'], { where: '"user_id" IS NOT NULL' })
@Index('ix_mcp_calls_tool', ['organisationId', 'serverId', 'tool', 'createdAt'], { where: '"tool" IS NOT NULL' })
@Index('ix_mcp_calls_failed', ['organisationId', 'serverId', 'createdAt'], { where: `"outcome" <> 'ok'` })
export class McpCall {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_mcp_calls' })
  readonly id!: string;

  @Column({ name: 'organisation_id', type: 'uuid' })
  readonly organisationId!: string;

  /** Of the caller. */
  @Column({ name: 'workspace_id', type: 'uuid', nullable: true })
  readonly workspaceId!: string | null;

  /** Not a foreign key: the rows stay when the server is deleted. */
  @Column({ name: 'server_id', type: 'uuid' })
  readonly serverId!: string;

  @Column({ name: 'server_slug', type: 'varchar', length: 255 })
  readonly serverSlug!: string;

  /** `api_key`, `external` or `oauth`. */
  @Column({ name: 'caller_type', type: 'varchar', length: 32 })
  readonly callerType!: string;

  /** Id of the key, or the subject of the token (without one: its username or client). */
  @Column({ name: 'caller_id', type: 'varchar', length: 255 })
  readonly callerId!: string;

  /** The `sub` claim that servers receive. */
  @Column({ name: 'user_id', type: 'varchar', length: 255, nullable: true })
  readonly userId!: string | null;

  @Column({ name: 'http_method', type: 'varchar', length: 16 })
  readonly httpMethod!: string;

  /** Method of the first message, if the body was read. */
  @Column({ name: 'rpc_method', type: 'varchar', length: 128, nullable: true })
  readonly rpcMethod!: string | null;

  /** The first tool of a batch; for a refused call, the disabled tool. */
  @Column({ type: 'varchar', length: 255, nullable: true })
  readonly tool!: string | null;

  /** Status that the client received; 499 when it disconnected first. */
  @Column({ type: 'integer' })
  readonly status!: number;

  @Column({ name: 'error_code', type: 'varchar', length: 64, nullable: true })
  readonly errorCode!: string | null;

  @Column({ type: 'varchar', length: 16, default: 'ok' })
  readonly outcome!: CallOutcome;

  /** `error.code` of the server's answer. */
  @Column({ name: 'rpc_error_code', type: 'integer', nullable: true })
  readonly rpcErrorCode!: number | null;

  @Column({ name: 'first_byte_ms', type: 'integer', nullable: true })
  readonly firstByteMs!: number | null;

  @Column({ name: 'total_ms', type: 'integer' })
  readonly totalMs!: number;

  /** Size of the request body; the announced size when it was not read. PostgreSQL returns bigints as text. */
  @Column({ name: 'bytes_in', type: 'bigint' })
  readonly bytesIn!: string;

  @Column({ name: 'bytes_out', type: 'bigint' })
  readonly bytesOut!: string;

  @Column({ name: 'trace_id', type: 'varchar', length: 128, nullable: true })
  readonly traceId!: string | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  readonly createdAt!: Date;
}
