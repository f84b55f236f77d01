import { Column, CreateDateColumn, Entity, ForeignKey, Index, PrimaryGeneratedColumn } from 'typeorm';
import type { PriceMode, UnitSpelling } from './price.types.js';

/** What one unit of a model costs from a day on. Rows are only ever added: the ledger names the one that was used. */
@Entity('prices')
@Index('ix_prices_organisation', ['organisationId', 'effectiveFrom'])
export class PriceRow {
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'pk_prices' })
  readonly id!: string;

  /** null: the operator's, for every organisation. */
  @ForeignKey('Organisation', { name: 'fk_prices_organisation' })
  @Column({ name: 'organisation_id', type: 'uuid', nullable: true })
  readonly organisationId!: string | null;

  @Column({ type: 'varchar', length: 64 })
  readonly provider!: string;

  @Column({ type: 'varchar', length: 512 })
  readonly model!: string;

  /** As it was written: see `unitOf`. */
  @Column({ type: 'varchar', length: 32 })
  readonly unit!: UnitSpelling;

  @Column({ type: 'varchar', length: 16, default: 'standard' })
  readonly mode!: PriceMode;

  /** The tier: calls with fewer input tokens have another price. */
  @Column({ name: 'min_input_tokens', type: 'integer', default: 0 })
  readonly minInputTokens!: number;

  /** US dollars for one unit. Text: a number of JavaScript would lose digits. */
  @Column({ type: 'numeric', precision: 38, scale: 18 })
  readonly price!: string;

  @Column({ name: 'effective_from', type: 'timestamptz' })
  readonly effectiveFrom!: Date;

  /** `api`, or the list that it was imported from. */
  @Column({ type: 'varchar', length: 255 })
  readonly source!: string;

  /** Id of the API key, subject of the administrator's token, or `prices:import`. */
  @Column({ name: 'created_by', type: 'varchar', length: 255 })
  readonly createdBy!: string;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  readonly createdAt!: Date;
}
