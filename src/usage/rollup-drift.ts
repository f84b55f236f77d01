import type { DataSource } from 'typeorm';
import { LEDGER_GROUP, SUM_COLUMNS, sumsOfCall } from './rollup-columns.js';

/** An hour or a day of a group of calls whose sums differ from the ledger. */
export interface RollupDrift {
  readonly organisationId: string;
  readonly start: Date;
  /** 1 for an hour, or 24 for a day whose sum differs from the sum of its hours. */
  readonly hours: 1 | 24;
  /** Ledger minus sums. */
  readonly calls: bigint;
  readonly costNano: bigint;
}

const GROUP = LEDGER_GROUP.join(', ');
const TAKEN = SUM_COLUMNS.map((column) => `-${column} AS ${column}`).join(', ');
const SUMS = SUM_COLUMNS.map((column) => `sum(${column}) AS ${column}`).join(', ');
const DIFFERS = SUM_COLUMNS.map((column) => `${column} <> 0`).join(' OR ');

/**
 * One statement sees one snapshot. The ledger has an index by organisation and time, so that few hours are found
 * quickly.
 */
const DRIFT = `
  WITH organisation AS (
    SELECT id FROM organisations UNION SELECT organisation_id FROM usage_rollup_groups
    UNION SELECT organisation_id FROM usage_rollup_changes
  ), hour AS (
    SELECT start, ${GROUP}, ${SUMS} FROM (
      SELECT date_trunc('hour', at, 'UTC') AS start, ${GROUP}, ${sumsOfCall()} FROM usage_events
      WHERE organisation_id = ANY (ARRAY(SELECT id FROM organisation)) AND at >= $1
      UNION ALL SELECT hour, ${GROUP}, ${TAKEN} FROM usage_rollup_changes WHERE hour >= $1
      UNION ALL SELECT r.start, ${LEDGER_GROUP.map((column) => `g.${column}`).join(', ')}, ${TAKEN}
      FROM usage_rollups r JOIN usage_rollup_groups g ON g.id = r.group_id
      WHERE r.organisation_id = ANY (ARRAY(SELECT id FROM organisation)) AND r.hours = 1 AND r.start >= $1
    ) AS part GROUP BY start, ${GROUP}
  ), day AS (
    SELECT start, organisation_id, group_id, ${SUMS} FROM (
      SELECT date_trunc('day', start, 'UTC') AS start, organisation_id, group_id, ${SUM_COLUMNS.join(', ')} FROM usage_rollups
      WHERE hours = 1 AND organisation_id = ANY (ARRAY(SELECT id FROM organisation)) AND start >= date_trunc('day', $1, 'UTC')
      UNION ALL SELECT start, organisation_id, group_id, ${TAKEN} FROM usage_rollups
      WHERE hours = 24 AND organisation_id = ANY (ARRAY(SELECT id FROM organisation)) AND start >= date_trunc('day', $1, 'UTC')
    ) AS part GROUP BY start, organisation_id, group_id
  )
  SELECT organisation_id AS "organisationId", start, 1 AS hours, calls, cost_nano AS "costNano" FROM hour WHERE ${DIFFERS}
  UNION ALL
  SELECT organisation_id, start, 24, calls, cost_nano FROM day WHERE ${DIFFERS}`;

/**
 * Hours and days whose sums differ from the ledger. There should never be any, except in months that were dropped from
 * the ledger.
 * @param since the start of an hour; the whole ledger by default
 */
export async function rollupDrift(
  dataSource: Pick<DataSource, 'query'>,
  since = new Date(0),
): Promise<readonly RollupDrift[]> {
  const rows: readonly (Omit<RollupDrift, 'calls' | 'costNano'> & Readonly<Record<'calls' | 'costNano', string>>)[] =
    await dataSource.query(DRIFT, [since]);
  return rows.map((row) => ({ ...row, calls: BigInt(row.calls), costNano: BigInt(row.costNano) }));
}
