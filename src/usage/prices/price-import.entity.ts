import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What the last import of a public list had, also where that was what counted already. */
@Entity('price_imports')
export class PriceImport {
  /** As in the rows that it wrote: `litellm:model_prices_and_context_window.json`. */
  @PrimaryColumn({ type: 'varchar', length: 255, primaryKeyConstraintName: 'pk_price_imports' })
  readonly source!: string;

  /** Each price by its provider, model and unit. */
  @Column({ type: 'text', array: true })
  readonly names!: string[];

  @Column({ name: 'imported_at', type: 'timestamptz' })
  readonly importedAt!: Date;
}
