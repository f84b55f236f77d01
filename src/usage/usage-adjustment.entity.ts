import { Column, CreateDateColumn, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';

/** A change of a counter that no call made, such as a reset. Rows are only ever added. */
@Entity('usage_adjustments')
export class UsageAdjustment {
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'pk_usage_adjustments' })
  readonly id!: string;

  @Index('ix_usage_adjustments_bucket')
  @Column({ name: 'bucket_id', type: 'uuid' })
  readonly bucketId!: string;

  @Column({ name: 'organisation_id', type: 'uuid' })
  readonly organisationId!: string;

  /** The amount added to `used`, in the bucket's unit. */
  @Column({ type: 'bigint' })
  readonly delta!: string;

  /** The bucket's epoch before the change. */
  @Column({ type: 'integer' })
  readonly epoch!: number;

  @Column({ name: 'actor_id', type: 'varchar', length: 255 })
  readonly actorId!: string;

  @Column({ type: 'varchar', length: 255 })
  readonly reason!: string;

  @Column({ type: 'timestamptz' })
  readonly at!: Date;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  readonly createdAt!: Date;
}
