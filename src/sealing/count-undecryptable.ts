import type { DataSource } from 'typeorm';
import type { SealedColumn } from './sealed-column.js';
import { type Sealer, SealError } from './sealer.js';

/** Why values of a column do not open, and how many for each reason. */
export async function countUndecryptable(
  dataSource: DataSource,
  sealer: Sealer,
  column: SealedColumn,
): Promise<ReadonlyMap<string, number>> {
  const reasons = new Map<string, number>();
  for await (const { sealed, place } of column.values(dataSource)) {
    try {
      sealer.open(sealed, place);
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      reasons.set(error.message, (reasons.get(error.message) ?? 0) + 1);
    }
  }
  return reasons;
}
