import { Column, CreateDateColumn, Entity, Index, PrimaryColumn } from 'typeorm';
import type { UsageUnit } from '../common/money/units.js';
import { LedgerRow } from './ledger-row.js';

/** A call under way: what it is expected to use at most; or the place of one that must not come any more. Written and removed by `usage_batch` only. */
@Entity('usage_reservations')
export class UsageReservation extends LedgerRow {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_usage_reservations' })
  readonly id!: string;

  @Column({ type: 'timestamptz' })
  readonly at!: Date;

  /** From then on its gateway is taken for dead. */
  @Index('ix_usage_reservations_expires_at')
  @Column({ name: 'expires_at', type: 'timestamptz' })
  readonly expiresAt!: Date;

  /** It was released before it arrived: its row is nobody's, and keeps the call from being admitted. */
  @Column({ name: 'is_withdrawn', type: 'boolean', default: false })
  readonly isWithdrawn!: boolean;

  /** Of the buckets, in their order. */
  @Column({ type: 'text', array: true })
  readonly units!: UsageUnit[];

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  readonly createdAt!: Date;
}
