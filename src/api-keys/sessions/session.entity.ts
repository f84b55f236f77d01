import { Column, CreateDateColumn, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm';
import { ApiKeySecret } from '../api-key-secret.entity.js';

/** A browser that logged in with an API key. It ends with the secret that it logged in with. */
@Entity('sessions')
export class Session {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_sessions' })
  readonly id!: string;

  @Column({ name: 'organisation_id', type: 'uuid' })
  readonly organisationId!: string;

  @Index('ix_sessions_api_key')
  @Column({ name: 'api_key_id', type: 'uuid' })
  readonly apiKeyId!: string;

  @Index('ix_sessions_secret')
  @Column({ name: 'secret_id', type: 'varchar', length: 8 })
  readonly secretId!: string;

  @ManyToOne(() => ApiKeySecret, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'secret_id', foreignKeyConstraintName: 'fk_sessions_secret' })
  readonly secret?: Relation<ApiKeySecret>;

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
