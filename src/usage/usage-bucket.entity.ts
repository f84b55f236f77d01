import { Column, CreateDateColumn, Entity, Index, PrimaryColumn, UpdateDateColumn } from 'typeorm';
import type { UsageUnit } from '../common/money/units.js';

/**
 * The usage of one group of calls under one policy in one window. `used` always equals the sum of the ledger's charges
 * and of the adjustments. Only the database functions `usage_…` write rows.
 */
@Entity('usage_buckets')
@Index('uq_usage_buckets_ordinal', ['policyId', 'windowId', 'ordinal'], { unique: true })
export class UsageBucket {
  @PrimaryColumn({ name: 'policy_id', type: 'uuid', primaryKeyConstraintName: 'pk_usage_buckets' })
  readonly policyId!: string;

  @PrimaryColumn({
    name: 'bucket_hash',
    type: 'varchar',
    length: 22,
    primaryKeyConstraintName: 'pk_usage_buckets',
  })
  readonly bucketHash!: string;

  @PrimaryColumn({ name: 'window_id', type: 'varchar', length: 16, primaryKeyConstraintName: 'pk_usage_buckets' })
  readonly windowId!: string;

  /** The bucket's id in the API. */
  @Index('uq_usage_buckets_id', { unique: true })
  @Column({ type: 'uuid' })
  readonly id!: string;

  /** Position among the buckets of its policy and window, from 1. */
  @Column({ type: 'integer' })
  readonly ordinal!: number;

  @Column({ name: 'organisation_id', type: 'uuid' })
  readonly organisationId!: string;

  /** The policy's workspace; null for the whole organisation. */
  @Column({ name: 'workspace_id', type: 'uuid', nullable: true })
  readonly workspaceId!: string | null;

  @Column({ name: 'value_key', type: 'varchar', length: 2048 })
  readonly valueKey!: string;

  @Column({ type: 'varchar', length: 8 })
  readonly unit!: UsageUnit;

  @Column({ type: 'bigint', default: 0 })
  readonly used!: string;

  /** The amount reserved by calls in flight. */
  @Column({ type: 'bigint', default: 0 })
  readonly reserved!: string;

  /** The limit at the last admission or change of the policy. It decides when alerts are raised. */
  @Column({ name: 'credit_limit', type: 'bigint' })
  readonly creditLimit!: string;

  @Column({ name: 'alert_threshold', type: 'bigint', nullable: true })
  readonly alertThreshold!: string | null;

  /** When the threshold was reached in this epoch, or a higher one before; null: not yet. */
  @Column({ name: 'threshold_reached_at', type: 'timestamptz', nullable: true })
  readonly thresholdReachedAt!: Date | null;

  /**
   * When the limit was reached, or a call first did not fit into the rest; null: not in this epoch, or not under the
   * current limit.
   */
  @Column({ name: 'exhausted_at', type: 'timestamptz', nullable: true })
  readonly exhaustedAt!: Date | null;

  /** Incremented by every reset, after which alerts are raised again. */
  @Column({ type: 'integer', default: 0 })
  readonly epoch!: number;

  /** The time of the last manual reset, by the database's clock. */
  @Column({ name: 'reset_at', type: 'timestamptz', nullable: true })
  readonly resetAt!: Date | null;

  /** When its window ends. */
  @Index('ix_usage_buckets_resets_at')
  @Column({ name: 'resets_at', type: 'timestamptz', nullable: true })
  readonly resetsAt!: Date | null;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  readonly createdAt!: Date;

  @UpdateDateColumn({ name: 'updated_at', type: 'timestamptz' })
  readonly updatedAt!: Date;
}
