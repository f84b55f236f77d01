import type { DataSource } from 'typeorm';

/** Small enough for the time limit of a statement, and for others not to wait behind it. */
const BATCH_ROWS = 1_000;

/**
 * Deletes rows that are past their time, so many a statement, until none is left or `isStopping` says so.
 * @param statement deletes rows older than `$1`, at most `$2` of them
 */
export async function deleteInBatches(
  database: Pick<DataSource, 'query'>,
  statement: string,
  before: Date,
  isStopping: () => boolean,
): Promise<void> {
  let deleted = BATCH_ROWS;
  // What is left has time until the next start; calls under way have not.
  while (deleted === BATCH_ROWS && !isStopping()) {
    [, deleted] = await database.query<[unknown, number]>(statement, [before, BATCH_ROWS]);
  }
}
