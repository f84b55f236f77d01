import {
  Check,
  ForeignKey,
  Column,
  CreateDateColumn,
  Entity,
  Index,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
  type Relation,
} from 'typeorm';
import type { Role } from '../../access/roles.js';
import { ApiKeySecret } from '../api-key-secret.entity.js';

/** Where a person may go, by slugs. */
export interface Place {
  readonly organisation: string;
  /** null: all workspaces. */
  readonly workspace: string | null;
  readonly role: Role;
}

/** Who logged in without a key, and what they may do until they log in again. */
export interface Person {
  readonly name: string | null;
  readonly scopes: readonly string[];
  /** Everywhere that they may go; empty for a token. */
  readonly places: readonly Place[];
}

/** A browser that logged in with an API key, and ends with its secret, or a person at the identity provider. */
@Entity('sessions')
@Index('ix_sessions_subject', ['subject', 'issuer'])
@Check('ck_sessions_owner', '("secret_id" IS NULL) <> ("subject" IS NULL)')
export class Session {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_sessions' })
  readonly id!: string;

  @Column({ name: 'organisation_id', type: 'uuid' })
  readonly organisationId!: string;

  /** Of a person; null: all of the organisation. */
  @ForeignKey('Workspace', { name: 'fk_sessions_workspace', onDelete: 'CASCADE' })
  @Index('ix_sessions_workspace')
  @Column({ name: 'workspace_id', type: 'uuid', nullable: true })
  readonly workspaceId!: string | null;

  @Index('ix_sessions_api_key')
  @Column({ name: 'api_key_id', type: 'uuid', nullable: true })
  readonly apiKeyId!: string | null;

  @Index('ix_sessions_secret')
  @Column({ name: 'secret_id', type: 'varchar', length: 8, nullable: true })
  readonly secretId!: string | null;

  @ManyToOne(() => ApiKeySecret, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'secret_id', foreignKeyConstraintName: 'fk_sessions_secret' })
  readonly secret?: Relation<ApiKeySecret>;

  /** Of the identity provider that knows the person; null for a key. */
  @Column({ type: 'varchar', length: 2_048, nullable: true })
  readonly issuer!: string | null;

  /** The person, for that provider; null for a key. */
  @Column({ type: 'varchar', length: 255, nullable: true })
  readonly subject!: string | null;

  @Column({ type: 'jsonb', nullable: true })
  readonly person!: Person | null;

  /** Address of the browser, as far as the gateway can see it. */
  @Column({ name: 'client_address', type: 'varchar', length: 64, nullable: true })
  readonly clientAddress!: string | null;

  @Column({ name: 'user_agent', type: 'varchar', length: 512, nullable: true })
  readonly userAgent!: string | null;

  @Index('ix_sessions_expires_at')
  @Column({ name: 'expires_at', type: 'timestamptz' })
  readonly expiresAt!: Date;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  readonly createdAt!: Date;
}
