import { Column, CreateDateColumn, Entity, Index, PrimaryColumn } from 'typeorm';
import type { UsageUnit } from '../common/money/units.js';
import { LedgerRow } from './ledger-row.js';

/**
 * A call in flight with the most that it is expected to use, or the mark of a withdrawn one that must not be admitted.
 * Only `usage_batch` writes and removes rows.
 */
@Entity('usage_reservations')
export class UsageReservation extends LedgerRow {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_usage_reservations' })
  readonly id!: string;

  @Column({ type: 'timestamptz' })
  readonly at!: Date;

  /** The time from which its gateway counts as dead. */
  @Index('ix_usage_reservations_expires_at')
  @Column({ name: 'expires_at', type: 'timestamptz' })
  readonly expiresAt!: Date;

  /** The call was released before its reservation arrived: the row keeps the call from being admitted. */
  @Column({ name: 'is_withdrawn', type: 'boolean', default: false })
  readonly isWithdrawn!: boolean;

  /** The units of the buckets, in their order. */
  @Column({ type: 'text', array: true })
  readonly units!: UsageUnit[];

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  readonly createdAt!: Date;
}
