import { expect } from '@jest/globals';

/**
 * One test over all rows of a table. Every row is tried, and each that fails is named with what it failed of.
 * @param least how many rows there must be: an empty table would prove everything
 */
export async function forEvery<Row>(
  rows: readonly (readonly [name: string, row: Row])[],
  check: (row: Row) => Promise<void> | void,
  least = 2,
): Promise<void> {
  expect(rows.length).toBeGreaterThanOrEqual(least);
  const failed: string[] = [];
  for (const [name, row] of rows) {
    try {
      await check(row);
    } catch (error) {
      failed.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  expect(failed).toEqual([]);
}

/** Each row with each value. */
export function pairs<Row, Value>(
  rows: readonly (readonly [name: string, row: Row])[],
  values: readonly Value[],
): readonly (readonly [name: string, pair: readonly [Row, Value]])[] {
  return rows.flatMap(([name, row]) =>
    values.map((value): readonly [string, readonly [Row, Value]] => [`${name} with ${String(value)}`, [row, value]]),
  );
}
