import { Column, CreateDateColumn, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm';
import { ApiKey } from './api-key.entity.js';

/** One secret of a key. A key has two while it is being rotated. */
@Entity('api_key_secrets')
export class ApiKeySecret {
  /** The public part of the key, which finds the row. */
  @PrimaryColumn({ name: 'public_id', type: 'varchar', length: 8, primaryKeyConstraintName: 'pk_api_key_secrets' })
  readonly publicId!: string;

  @Index('ix_api_key_secrets_api_key')
  @Column({ name: 'api_key_id', type: 'uuid' })
  readonly apiKeyId!: string;

  @ManyToOne(() => ApiKey, (key) => key.secrets, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'api_key_id', foreignKeyConstraintName: 'fk_api_key_secrets_api_key' })
  readonly apiKey?: Relation<ApiKey>;

  /** HMAC-SHA-256 of the whole key with the server's pepper. */
  @Column({ type: 'bytea', select: false })
  readonly hash!: Buffer;

  /** Set on the old secret by a rotation; null: as long as the key. */
  @Column({ name: 'valid_until', type: 'timestamptz', nullable: true })
  validUntil!: Date | null;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  readonly createdAt!: Date;
}
