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
} from 'typeorm';
import type { KeyUser, RateLimit } from '../access/principal.js';
import { ApiKeySecret } from './api-key-secret.entity.js';

@Entity('api_keys')
@Index('ix_api_keys_tenant', ['organisationId', 'workspaceId', 'createdAt'])
export class ApiKey {
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'pk_api_keys' })
  readonly id!: string;

  @ForeignKey('Organisation', { name: 'fk_api_keys_organisation' })
  @Column({ name: 'organisation_id', type: 'uuid' })
  readonly organisationId!: string;

  /** null: a key of the whole organisation. */
  @ForeignKey('Workspace', { name: 'fk_api_keys_workspace' })
  @Column({ name: 'workspace_id', type: 'uuid', nullable: true })
  readonly workspaceId!: string | null;

  @Column({ type: 'varchar', length: 255 })
  name!: string;

  @Column({ type: 'varchar', length: 1024, nullable: true })
  description!: string | null;

  /** How the newest secret begins: `tg_` and its public part. */
  @Column({ type: 'varchar', length: 16 })
  readonly prefix!: string;

  @Column({ type: 'varchar', length: 16 })
  readonly type!: 'service' | 'user';

  @Column({ type: 'text', array: true })
  scopes!: string[];

  @Column({ type: 'jsonb', nullable: true })
  user!: KeyUser | null;

  @Column({ type: 'jsonb', default: {} })
  metadata!: Record<string, string>;

  @Column({ name: 'rate_limits', type: 'jsonb', default: [] })
  rateLimits!: RateLimit[];

  /** Slugs or ids; null: all. */
  @Column({ name: 'allowed_mcp_servers', type: 'text', array: true, nullable: true })
  allowedMcpServers!: string[] | null;

  /** Patterns `<server>/<tool>`; null: all. */
  @Column({ name: 'allowed_mcp_tools', type: 'text', array: true, nullable: true })
  allowedMcpTools!: string[] | null;

  /** Patterns of the models that calls may use; null: all. */
  @Column({ name: 'allowed_models', type: 'text', array: true, nullable: true })
  allowedModels!: string[] | null;

  /** Ids of the virtual keys that calls may use; null: all. Those that were deleted stay, so that the list never becomes empty. */
  @Column({ name: 'allowed_virtual_keys', type: 'uuid', array: true, nullable: true })
  allowedVirtualKeys!: string[] | null;

  /** The virtual key of calls that name none. */
  @ForeignKey('VirtualKey', { name: 'fk_api_keys_default_virtual_key' })
  @Column({ name: 'default_virtual_key_id', type: 'uuid', nullable: true })
  defaultVirtualKeyId!: string | null;

  @Column({ name: 'expires_at', type: 'timestamptz', nullable: true })
  expiresAt!: Date | null;

  /** Id of the API key, or subject of the token; `gateway` for keys of the first start and of commands. */
  @Column({ name: 'created_by', type: 'varchar', length: 255, nullable: true })
  readonly createdBy!: string | null;

  /** Written behind; see `LastUse`. */
  @Column({ name: 'last_used_at', type: 'timestamptz', nullable: true })
  readonly lastUsedAt!: Date | null;

  @OneToMany(() => ApiKeySecret, (secret) => secret.apiKey)
  readonly secrets?: Relation<ApiKeySecret>[];

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  readonly createdAt!: Date;

  @UpdateDateColumn({ name: 'updated_at', type: 'timestamptz' })
  readonly updatedAt!: Date;
}
