import {
  Column,
  CreateDateColumn,
  Entity,
  ForeignKey,
  Index,
  PrimaryGeneratedColumn,
  UpdateDateColumn,
  VirtualColumn,
} from 'typeorm';
import type { ForwardHeaders, UserIdentityForwarding } from '../../identity/config/identity-config.js';
import { type MappedField, mappingsOfOwner } from '../../secret-references/secret-mapping.entity.js';
import { AUDIENCE_INDEX } from './mcp-server.audience.js';
import type { StoredJwtValidation } from './mcp-server.fields.js';
import type { McpAuthType, McpTimeouts, McpTransport } from './mcp-server.types.js';

/** An MCP server behind the gateway. Its slug is part of its address at the gateway. */
@Entity('mcp_servers')
@Index('uq_mcp_servers_workspace_slug', ['organisationId', 'workspaceId', 'slug'], {
  unique: true,
  where: '"workspace_id" IS NOT NULL',
})
@Index('uq_mcp_servers_organisation_slug', ['organisationId', 'slug'], {
  unique: true,
  where: '"workspace_id" IS NULL',
})
@Index('ix_mcp_servers_slug', ['slug'])
@Index(AUDIENCE_INDEX, ['audienceDigest'], { unique: true, where: '"audience_digest" IS NOT NULL' })
export class McpServer {
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'pk_mcp_servers' })
  readonly id!: string;

  @ForeignKey('Organisation', { name: 'fk_mcp_servers_organisation' })
  @Column({ name: 'organisation_id', type: 'uuid' })
  readonly organisationId!: string;

  /** null for all workspaces of the organisation. */
  @ForeignKey('Workspace', { name: 'fk_mcp_servers_workspace' })
  @Column({ name: 'workspace_id', type: 'uuid', nullable: true })
  readonly workspaceId!: string | null;

  @Column({ type: 'varchar', length: 255 })
  readonly slug!: string;

  @Column({ type: 'varchar', length: 255 })
  name!: string;

  @Column({ type: 'varchar', length: 1024, nullable: true })
  description!: string | null;

  @Column({ type: 'varchar', length: 2048 })
  url!: string;

  @Column({ type: 'varchar', length: 32 })
  transport!: McpTransport;

  @Column({ name: 'auth_type', type: 'varchar', length: 32 })
  authType!: McpAuthType;

  /** The gateway's own secrets for the server and its identity provider, as sealed JSON. */
  @Column({ name: 'sealed_secrets', type: 'text', nullable: true, select: false })
  sealedSecrets!: string | null;

  /** Fields whose values come from secret references. */
  @VirtualColumn('json', { query: mappingsOfOwner('mcp-server') })
  readonly secretMappings!: readonly MappedField[];

  @Column({ name: 'user_identity_forwarding', type: 'jsonb', nullable: true })
  userIdentityForwarding!: UserIdentityForwarding | null;

  /** The digest of its signed tokens' audience; null when they have none. */
  @Column({ name: 'audience_digest', type: 'varchar', length: 43, nullable: true })
  audienceDigest!: string | null;

  /** Without its secret, which is in `sealed_secrets`. */
  @Column({ name: 'jwt_validation', type: 'jsonb', nullable: true })
  jwtValidation!: StoredJwtValidation | null;

  @Column({ name: 'forward_headers', type: 'jsonb', nullable: true })
  forwardHeaders!: ForwardHeaders | null;

  /** Origins of browser clients. */
  @Column({ name: 'allowed_origins', type: 'text', array: true, default: [] })
  allowedOrigins!: string[];

  @Column({ type: 'jsonb', default: {} })
  timeouts!: McpTimeouts;

  @Column({ type: 'boolean', default: true })
  enabled!: boolean;

  /** Whether a changed tool waits until an administrator accepts it. */
  @Column({ type: 'boolean', default: false })
  pin!: boolean;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  readonly createdAt!: Date;

  @UpdateDateColumn({ name: 'updated_at', type: 'timestamptz' })
  readonly updatedAt!: Date;
}
