import { expect } from '@jest/globals';

/**
 * Checks every row of a table in one test, and names each row that fails with its error.
 * @param least the minimum number of rows: an empty table would prove nothing
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

/** Every combination of a row and a value. */
export function pairs<Row, Value>(
  rows: readonly (readonly [name: string, row: Row])[],
  values: readonly Value[],
): readonly (readonly [name: string, pair: readonly [Row, Value]])[] {
  return rows.flatMap(([name, row]) =>
    values.map((value): readonly [string, readonly [Row, Value]] => [`${name} with ${String(value)}`, [row, value]]),
  );
}
