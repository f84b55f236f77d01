import { Column, CreateDateColumn, Entity, ForeignKey, Index, PrimaryGeneratedColumn } from 'typeorm';
import type { PriceMode, UnitSpelling } from './price.types.js';

/** The price of one unit of a model from a time on. Rows are only added, since the ledger refers to them. */
@Entity('prices')
@Index('ix_prices_organisation', ['organisationId', 'effectiveFrom'])
export class PriceRow {
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'pk_prices' })
  readonly id!: string;

  /** null for a price of the operator, which applies to all organisations. */
  @ForeignKey('Organisation', { name: 'fk_prices_organisation' })
  @Column({ name: 'organisation_id', type: 'uuid', nullable: true })
  readonly organisationId!: string | null;

  @Column({ type: 'varchar', length: 64 })
  readonly provider!: string;

  @Column({ type: 'varchar', length: 512 })
  readonly model!: string;

  /** The spelling with which the price was set: see `unitOf`. */
  @Column({ type: 'varchar', length: 32 })
  readonly unit!: UnitSpelling;

  @Column({ type: 'varchar', length: 16, default: 'standard' })
  readonly mode!: PriceMode;

  /** The tier: calls with fewer input tokens have another price. */
  @Column({ name: 'min_input_tokens', type: 'integer', default: 0 })
  readonly minInputTokens!: number;

  /** US dollars for one unit, as text, since a JavaScript number would lose digits. */
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
