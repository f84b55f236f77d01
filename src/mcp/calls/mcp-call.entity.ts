import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** One request to an MCP server: who called what, and how it ended. No arguments, no results. */
@Entity('mcp_calls')
@Index('ix_mcp_calls_server', ['organisationId', 'serverId', 'createdAt'])
@Index('ix_mcp_calls_created_at', ['createdAt'])
export class McpCall {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_mcp_calls' })
  readonly id!: string;

  @Column({ name: 'organisation_id', type: 'uuid' })
  readonly organisationId!: string;

  /** Of the caller. */
  @Column({ name: 'workspace_id', type: 'uuid', nullable: true })
  readonly workspaceId!: string | null;

  /** Without a foreign key: what was called stays known when the server is deleted. */
  @Column({ name: 'server_id', type: 'uuid' })
  readonly serverId!: string;

  @Column({ name: 'server_slug', type: 'varchar', length: 255 })
  readonly serverSlug!: string;

  /** `api_key`, `external` or `oauth`. */
  @Column({ name: 'caller_type', type: 'varchar', length: 32 })
  readonly callerType!: string;

  /** Id of the key, or whom the token names: its subject, else a username or client. */
  @Column({ name: 'caller_id', type: 'varchar', length: 255 })
  readonly callerId!: string;

  /** What servers are told as `sub`. */
  @Column({ name: 'user_id', type: 'varchar', length: 255, nullable: true })
  readonly userId!: string | null;

  @Column({ name: 'http_method', type: 'varchar', length: 16 })
  readonly httpMethod!: string;

  /** Of the first message, where the body was read. */
  @Column({ name: 'rpc_method', type: 'varchar', length: 128, nullable: true })
  readonly rpcMethod!: string | null;

  /** Of a batch, the first; of one that was refused for a disabled tool, that one. */
  @Column({ type: 'varchar', length: 255, nullable: true })
  readonly tool!: string | null;

  /** Status that the client got; 499 when it left first. */
  @Column({ type: 'integer' })
  readonly status!: number;

  @Column({ name: 'error_code', type: 'varchar', length: 64, nullable: true })
  readonly errorCode!: string | null;

  @Column({ name: 'first_byte_ms', type: 'integer', nullable: true })
  readonly firstByteMs!: number | null;

  @Column({ name: 'total_ms', type: 'integer' })
  readonly totalMs!: number;

  /** Of the body that the client sent; as announced, where it was refused unread. PostgreSQL gives bigints as text. */
  @Column({ name: 'bytes_in', type: 'bigint' })
  readonly bytesIn!: string;

  @Column({ name: 'bytes_out', type: 'bigint' })
  readonly bytesOut!: string;

  @Column({ name: 'trace_id', type: 'varchar', length: 128, nullable: true })
  readonly traceId!: string | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  readonly createdAt!: Date;
}
