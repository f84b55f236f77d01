import { Column, CreateDateColumn, Entity, ForeignKey, Index, PrimaryGeneratedColumn } from 'typeorm';

/** A create that a caller named with `Idempotency-Key`, and its answer. Kept for a day. */
@Entity('idempotency_keys')
@Index('uq_idempotency_keys_key', ['organisationId', 'keyHash'], { unique: true })
export class IdempotencyKey {
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'pk_idempotency_keys' })
  readonly id!: string;

  @ForeignKey('Organisation', { name: 'fk_idempotency_keys_organisation' })
  @Column({ name: 'organisation_id', type: 'uuid' })
  readonly organisationId!: string;

  /** Of the key and the caller: another caller with the same key makes another request. */
  @Column({ name: 'key_hash', type: 'bytea' })
  readonly keyHash!: Buffer;

  /** Of the address and the body, keyed by the key. The body may hold secrets. */
  @Column({ name: 'request_hash', type: 'bytea' })
  readonly requestHash!: Buffer;

  @Column({ name: 'resource_id', type: 'uuid' })
  readonly resourceId!: string;

  /** Sealed, since it may show a new secret. null: the request is in progress, or its answer was lost. */
  @Column({ name: 'sealed_answer', type: 'text', nullable: true, select: false })
  sealedAnswer!: string | null;

  @Index('ix_idempotency_keys_created_at')
  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  readonly createdAt!: Date;
}
