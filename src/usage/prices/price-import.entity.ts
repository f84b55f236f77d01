import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The prices in the last import of a public list, including those that were unchanged. */
@Entity('price_imports')
export class PriceImport {
  /** The source, as in the price rows of the import: `litellm:model_prices_and_context_window.json`. */
  @PrimaryColumn({ type: 'varchar', length: 255, primaryKeyConstraintName: 'pk_price_imports' })
  readonly source!: string;

  /** Each price by its provider, model and unit. */
  @Column({ type: 'text', array: true })
  readonly names!: string[];

  @Column({ name: 'imported_at', type: 'timestamptz' })
  readonly importedAt!: Date;
}
