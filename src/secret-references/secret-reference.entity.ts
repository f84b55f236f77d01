import {
  Column,
  CreateDateColumn,
  Entity,
  ForeignKey,
  Index,
  OneToMany,
  PrimaryGeneratedColumn,
  type Relation,
  UpdateDateColumn,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
} from 'typeorm';
import type { Spelling } from './auth-config/auth-scheme.types.js';
import type { ManagerType, SecretErrorCode } from './managers/secret-manager.types.js';

/** Where a secret is kept and how to get at it. The secret itself is never stored. */
@Entity('secret_references')
@Index('uq_secret_references_slug', ['organisationId', 'slug'], { unique: true })
export class SecretReference {
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'pk_secret_references' })
  readonly id!: string;

  @ForeignKey('Organisation', { name: 'fk_secret_references_organisation' })
  @Column({ name: 'organisation_id', type: 'uuid' })
  readonly organisationId!: string;

  @Column({ type: 'varchar', length: 255 })
  readonly slug!: string;

  @Column({ type: 'varchar', length: 255 })
  name!: string;

  @Column({ type: 'varchar', length: 1024, nullable: true })
  description!: string | null;

  @Column({ name: 'manager_type', type: 'varchar', length: 32 })
  readonly managerType!: ManagerType;

  /** The names with which it was created, and with which it is answered. */
  @Column({ type: 'varchar', length: 16 })
  readonly spelling!: Spelling;

  /** The fields of `auth_config` that are not secret, under the interface's names. */
  @Column({ name: 'auth_config', type: 'jsonb', default: {} })
  authConfig!: Record<string, string>;

  /** The other fields as JSON, sealed. */
  @Column({ name: 'sealed_auth_config', type: 'text', nullable: true, select: false })
  sealedAuthConfig!: string | null;

  @Column({ name: 'secret_path', type: 'varchar', length: 1024 })
  secretPath!: string;

  @Column({ name: 'secret_key', type: 'varchar', length: 255, nullable: true })
  secretKey!: string | null;

  /** null: the current one. */
  @Column({ name: 'secret_version', type: 'varchar', length: 64, nullable: true })
  secretVersion!: string | null;

  @Column({ name: 'allow_all_workspaces', type: 'boolean', default: true })
  allowAllWorkspaces!: boolean;

  /** Hosts to which the value may be sent; null: all. */
  @Column({ name: 'allowed_hosts', type: 'text', array: true, nullable: true })
  allowedHosts!: string[] | null;

  /** Providers whose virtual keys may use the value; null: all, and MCP servers. */
  @Column({ name: 'allowed_providers', type: 'text', array: true, nullable: true })
  allowedProviders!: string[] | null;

  @OneToMany(() => SecretReferenceWorkspace, (workspace) => workspace.reference)
  allowedWorkspaces!: Relation<SecretReferenceWorkspace[]>;

  @Column({ type: 'jsonb', nullable: true })
  tags!: Record<string, unknown> | null;

  /** Goes up with every change of what would be fetched, or how: values fetched before are not used after it. */
  @Column({ type: 'integer', default: 1 })
  revision!: number;

  /** Id of the API key, or subject of the token. */
  @Column({ name: 'created_by', type: 'varchar', length: 255 })
  readonly createdBy!: string;

  @Column({ name: 'last_resolved_at', type: 'timestamptz', nullable: true })
  readonly lastResolvedAt!: Date | null;

  /** null: the last fetch went well. */
  @Column({ name: 'last_error', type: 'varchar', length: 64, nullable: true })
  readonly lastError!: SecretErrorCode | null;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  readonly createdAt!: Date;

  @UpdateDateColumn({ name: 'updated_at', type: 'timestamptz' })
  readonly updatedAt!: Date;
}

/** A workspace that may use a secret reference which is not for all of them. */
@Entity('secret_reference_workspaces')
@Index('ix_secret_reference_workspaces_workspace', ['workspaceId'])
export class SecretReferenceWorkspace {
  @PrimaryColumn({
    name: 'secret_reference_id',
    type: 'uuid',
    primaryKeyConstraintName: 'pk_secret_reference_workspaces',
  })
  readonly secretReferenceId!: string;

  @ManyToOne(() => SecretReference, (reference) => reference.allowedWorkspaces, { onDelete: 'CASCADE' })
  @JoinColumn({
    name: 'secret_reference_id',
    foreignKeyConstraintName: 'fk_secret_reference_workspaces_reference',
  })
  readonly reference?: Relation<SecretReference>;

  @ForeignKey('Workspace', { name: 'fk_secret_reference_workspaces_workspace', onDelete: 'CASCADE' })
  @PrimaryColumn({ name: 'workspace_id', type: 'uuid', primaryKeyConstraintName: 'pk_secret_reference_workspaces' })
  readonly workspaceId!: string;
}
