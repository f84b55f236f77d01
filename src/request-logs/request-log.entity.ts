import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { LoggedOutcome } from '../telemetry/logged-outcome.js';

/** One call of any kind: who called what, how it ended, and how long it took. Bodies are elsewhere (LoggedBodies). */
@Entity('request_logs')
@Index('ix_request_logs_organisation', ['organisationId', 'createdAt', 'id'])
@Index('ix_request_logs_workspace', ['organisationId', 'workspaceId', 'createdAt', 'id'])
@Index('ix_request_logs_trace', ['organisationId', 'traceId'])
@Index('ix_request_logs_created_at', ['createdAt'])
@Index('ix_request_logs_failed', ['organisationId', 'createdAt', 'id'], { where: `"outcome" <> 'ok'` })
export class RequestLog {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_request_logs' })
  readonly id!: string;

  /** When the call ended. */
  @Column({ name: 'created_at', type: 'timestamptz' })
  readonly createdAt!: Date;

  @Column({ name: 'organisation_id', type: 'uuid' })
  readonly organisationId!: string;

  @Column({ name: 'workspace_id', type: 'uuid', nullable: true })
  readonly workspaceId!: string | null;

  @Column({ name: 'actor_type', type: 'varchar', length: 32 })
  readonly actorType!: string;

  /** Of the key, or of the user that came with a token. */
  @Column({ name: 'actor_id', type: 'varchar', length: 255 })
  readonly actorId!: string;

  /** The user of a key, or the user that came to an MCP server with a token. */
  @Column({ name: 'user_id', type: 'varchar', length: 255, nullable: true })
  readonly userId!: string | null;

  /** `metadata.session` of the call. */
  @Column({ type: 'varchar', length: 255, nullable: true })
  readonly session!: string | null;

  @Column({ type: 'varchar', length: 16 })
  readonly method!: string;

  @Column({ type: 'varchar', length: 255 })
  readonly route!: string;

  @Column({ name: 'virtual_key', type: 'varchar', length: 255, nullable: true })
  readonly virtualKey!: string | null;

  @Column({ type: 'varchar', length: 64, nullable: true })
  readonly provider!: string | null;

  @Column({ type: 'varchar', length: 255, nullable: true })
  readonly model!: string | null;

  @Column({ name: 'model_requested', type: 'varchar', length: 255, nullable: true })
  readonly modelRequested!: string | null;

  @Column({ name: 'mcp_server', type: 'varchar', length: 255, nullable: true })
  readonly mcpServer!: string | null;

  @Column({ name: 'mcp_method', type: 'varchar', length: 128, nullable: true })
  readonly mcpMethod!: string | null;

  /** 499 when the client disconnected first. */
  @Column({ type: 'smallint' })
  readonly status!: number;

  @Column({ name: 'error_code', type: 'varchar', length: 64, nullable: true })
  readonly errorCode!: string | null;

  @Column({ type: 'varchar', length: 16 })
  readonly outcome!: LoggedOutcome;

  @Column({ type: 'bigint', nullable: true })
  readonly tokens!: string | null;

  @Column({ name: 'cost_nano', type: 'bigint', nullable: true })
  readonly costNano!: string | null;

  @Column({ name: 'duration_ms', type: 'integer' })
  readonly durationMs!: number;

  @Column({ name: 'upstream_ms', type: 'integer', nullable: true })
  readonly upstreamMs!: number | null;

  @Column({ name: 'first_token_ms', type: 'integer', nullable: true })
  readonly firstTokenMs!: number | null;

  @Column({ name: 'upstream_attempts', type: 'integer', nullable: true })
  readonly upstreamAttempts!: number | null;

  /** Until when the bodies are kept; null: they are not. */
  @Column({ name: 'bodies_until', type: 'timestamptz', nullable: true })
  readonly bodiesUntil!: Date | null;

  @Column({ name: 'trace_id', type: 'varchar', length: 128 })
  readonly traceId!: string;

  @Column({ type: 'jsonb' })
  readonly metadata!: Record<string, string>;
}
