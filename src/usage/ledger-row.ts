import { Column } from 'typeorm';
import type { PriceMode } from './prices/price.types.js';
import type { QuantitiesJson } from './units.js';

/**
 * The columns that reservations and the ledger share: the dimensions of a call, and its figures (the bound or the
 * usage).
 */
export abstract class LedgerRow {
  @Column({ name: 'organisation_id', type: 'uuid' })
  readonly organisationId!: string;

  @Column({ name: 'workspace_id', type: 'uuid', nullable: true })
  readonly workspaceId!: string | null;

  /** Empty for callers without a key. */
  @Column({ name: 'api_key_id', type: 'varchar', length: 255 })
  readonly apiKeyId!: string;

  @Column({ name: 'virtual_key', type: 'varchar', length: 255, nullable: true })
  readonly virtualKey!: string | null;

  @Column({ type: 'varchar', length: 64, nullable: true })
  readonly provider!: string | null;

  /** The model's canonical name. */
  @Column({ type: 'varchar', length: 255, nullable: true })
  readonly model!: string | null;

  @Column({ type: 'varchar', length: 64 })
  readonly endpoint!: string;

  @Column({ name: 'mcp_server', type: 'varchar', length: 255, nullable: true })
  readonly mcpServer!: string | null;

  @Column({ name: 'mcp_tool', type: 'varchar', length: 255, nullable: true })
  readonly mcpTool!: string | null;

  @Column({ type: 'jsonb', default: {} })
  readonly metadata!: Record<string, string>;

  @Column({ name: 'trace_id', type: 'varchar', length: 128 })
  readonly traceId!: string;

  @Column({ type: 'integer', default: 1 })
  readonly attempt!: number;

  /** A whole number as text, since a number cannot hold every bigint. */
  @Column({ name: 'cost_nano', type: 'bigint' })
  readonly costNano!: string;

  /** Sum of the quantities that are tokens. */
  @Column({ type: 'bigint' })
  readonly tokens!: string;

  @Column({ type: 'jsonb', default: {} })
  readonly quantities!: QuantitiesJson;

  @Column({ type: 'varchar', length: 16, default: 'standard' })
  readonly mode!: PriceMode;

  /** The input tokens from which the prices apply. */
  @Column({ type: 'integer', default: 0 })
  readonly tier!: number;

  @Column({ name: 'price_ids', type: 'uuid', array: true, default: [] })
  readonly priceIds!: string[];

  @Column({ name: 'bucket_ids', type: 'uuid', array: true })
  readonly bucketIds!: string[];

  /** The amount that each bucket is charged, in its unit. */
  @Column({ type: 'bigint', array: true })
  readonly amounts!: string[];
}
