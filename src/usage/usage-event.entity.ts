import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { LedgerRow } from './ledger-row.js';
import type { AttemptOutcome, FigureSource } from './usage-store.types.js';

/**
 * The ledger: one row for each call that was sent. Rows are only added, except that a presumed row is corrected when
 * the true usage is known. Partitioned by month. Written by `usage_batch`, and by `LedgerWriter` for usage without
 * counters.
 */
@Entity('usage_events')
@Index('ix_usage_events_organisation', ['organisationId', 'at'])
export class UsageEvent extends LedgerRow {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_usage_events' })
  readonly id!: string;

  /** When the call was admitted. */
  @PrimaryColumn({ type: 'timestamptz', primaryKeyConstraintName: 'pk_usage_events' })
  readonly at!: Date;

  @Column({ type: 'varchar', length: 16 })
  readonly source!: FigureSource;

  @Column({ type: 'varchar', length: 16 })
  readonly outcome!: AttemptOutcome;

  @Column({ name: 'first_token_ms', type: 'integer', nullable: true })
  readonly firstTokenMs!: number | null;

  /** When the buckets were charged, by the database's clock. */
  @Column({ name: 'charged_at', type: 'timestamptz', default: () => 'clock_timestamp()' })
  readonly chargedAt!: Date;
}
