import type { DataSource } from 'typeorm';
import type { SealedColumn } from './sealed-column.js';
import { type Sealer, SealError } from './sealer.js';

const BATCH_ROWS = 500;

/** Why values of a column do not open, and how many for each reason. */
export async function unopened(
  dataSource: DataSource,
  sealer: Sealer,
  column: SealedColumn,
): Promise<ReadonlyMap<string, number>> {
  const reasons = new Map<string, number>();
  let after: string | undefined;
  do {
    const values = await column.read(dataSource, after, BATCH_ROWS);
    for (const { sealed, place } of values) {
      try {
        sealer.open(sealed, place);
      } catch (error) {
        if (!(error instanceof SealError)) throw error;
        reasons.set(error.message, (reasons.get(error.message) ?? 0) + 1);
      }
    }
    after = values.at(-1)?.primaryKey;
  } while (after !== undefined);
  return reasons;
}
