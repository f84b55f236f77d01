import { Column, CreateDateColumn, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';
import type { AuditChanges } from './audit-changes.js';
import type { AuditedUser } from './audit-record.js';

/** Who changed what. Rows are only ever added. */
@Entity('audit_log_entries')
@Index('ix_audit_log_entries_tenant', ['organisationId', 'createdAt'])
export class AuditLogEntry {
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'pk_audit_log_entries' })
  readonly id!: string;

  @Column({ name: 'organisation_id', type: 'uuid' })
  readonly organisationId!: string;

  @Column({ name: 'workspace_id', type: 'uuid', nullable: true })
  readonly workspaceId!: string | null;

  /** `api_key`, `admin_token` or `gateway`. */
  @Column({ name: 'actor_type', type: 'varchar', length: 32 })
  readonly actorType!: string;

  @Column({ name: 'actor_id', type: 'varchar', length: 255 })
  readonly actorId!: string;

  /** Name of the API key; null for other actors. */
  @Column({ name: 'actor_name', type: 'varchar', length: 255, nullable: true })
  readonly actorName!: string | null;

  /** Where the request came from; null where there was no request. */
  @Column({ name: 'client_address', type: 'varchar', length: 64, nullable: true })
  readonly clientAddress!: string | null;

  /** `<resource>.<verb>`, as in scopes: `virtual_keys.update`. */
  @Column({ type: 'varchar', length: 64 })
  readonly action!: string;

  @Column({ name: 'resource_type', type: 'varchar', length: 64 })
  readonly resourceType!: string;

  @Column({ name: 'resource_id', type: 'uuid' })
  readonly resourceId!: string;

  /** At the time of the change. */
  @Column({ name: 'resource_name', type: 'varchar', length: 2048, nullable: true })
  readonly resourceName!: string | null;

  /** Old and new values by field; of secrets only that they have changed. */
  @Column({ type: 'jsonb', default: {} })
  readonly changes!: AuditChanges;

  /** The fields that the request named. */
  @Column({ name: 'changed_fields', type: 'text', array: true, default: [] })
  readonly changedFields!: string[];

  /** The user for whom a changed API key speaks. */
  @Column({ type: 'jsonb', nullable: true })
  readonly user!: AuditedUser | null;

  @Column({ name: 'trace_id', type: 'varchar', length: 128, nullable: true })
  readonly traceId!: string | null;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  readonly createdAt!: Date;
}
