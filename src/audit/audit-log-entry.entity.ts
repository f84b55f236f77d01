import { Column, CreateDateColumn, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';

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

  /** `<resource>.<verb>`, as in scopes: `virtual_keys.update`. */
  @Column({ type: 'varchar', length: 64 })
  readonly action!: string;

  @Column({ name: 'resource_type', type: 'varchar', length: 64 })
  readonly resourceType!: string;

  @Column({ name: 'resource_id', type: 'uuid' })
  readonly resourceId!: string;

  /** Names of the changed fields; values may be secrets. */
  @Column({ name: 'changed_fields', type: 'text', array: true, default: [] })
  readonly changedFields!: string[];

  @Column({ name: 'trace_id', type: 'varchar', length: 128, nullable: true })
  readonly traceId!: string | null;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  readonly createdAt!: Date;
}
