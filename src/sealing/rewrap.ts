import type { DataSource } from 'typeorm';
import type { SealedColumn, SealedValue } from './sealed-column.js';
import { type Sealer, SealError } from './sealer.js';

export interface RewrapReport {
  readonly rewrapped: number;
  /** Values that the current master key had sealed before. */
  readonly current: number;
  /** Why values were left as they are, and how many for each reason. */
  readonly refused: ReadonlyMap<string, number>;
}

interface Pass extends RewrapReport {
  /** Values that changed between our read and our write. */
  readonly lost: number;
}

/**
 * Wraps every value of a column by the current master key. Each value is one statement of its own: the work may be killed
 * and started again, and gateways may go on reading and writing meanwhile. What they write behind its back is found too,
 * since it goes over the column again until there is nothing to do.
 */
export async function rewrapColumn(
  dataSource: DataSource,
  sealer: Sealer,
  column: SealedColumn,
): Promise<RewrapReport> {
  let pass = await goOver(dataSource, sealer, column);
  let { rewrapped } = pass;
  const { current } = pass;
  while (pass.rewrapped + pass.lost > 0) {
    pass = await goOver(dataSource, sealer, column);
    rewrapped += pass.rewrapped;
  }
  return { rewrapped, current, refused: pass.refused };
}

async function goOver(dataSource: DataSource, sealer: Sealer, column: SealedColumn): Promise<Pass> {
  let [rewrapped, current, lost] = [0, 0, 0];
  const refused = new Map<string, number>();
  for await (const value of column.values(dataSource)) {
    const outcome = rewrap(sealer, value);
    if ('reason' in outcome) refused.set(outcome.reason, (refused.get(outcome.reason) ?? 0) + 1);
    else if (outcome.sealed === undefined) current += 1;
    else if (await column.replace(dataSource, value, outcome.sealed)) rewrapped += 1;
    else lost += 1;
  }
  return { rewrapped, current, lost, refused };
}

/** One value that does not open must not keep the others from their new key. */
function rewrap(sealer: Sealer, { sealed, place }: SealedValue): { sealed: string | undefined } | { reason: string } {
  try {
    return { sealed: sealer.rewrap(sealed, place) };
  } catch (error) {
    if (error instanceof SealError) return { reason: error.message };
    throw error;
  }
}

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
