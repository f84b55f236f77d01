import { QUANTITY_UNITS, type QuantityUnit } from './units.js';

/** The columns by which the ledger is summed, besides the time. */
export const LEDGER_GROUP = [
  'organisation_id',
  'workspace_id',
  'api_key_id',
  'virtual_key',
  'provider',
  'model',
  'endpoint',
  'mcp_server',
  'mcp_tool',
] as const;

/** The summed figures, by their columns in the tables `usage_rollup…`. */
export const SUM_COLUMNS = [
  'calls',
  'presumed_calls',
  'failed_calls',
  'cost_nano',
  'tokens',
  ...QUANTITY_UNITS.map(columnOfUnit),
] as const;

/** The column of a unit's sum. It is null when no call has a figure of the unit. */
export function columnOfUnit(unit: QuantityUnit): `q_${QuantityUnit}` {
  return `q_${unit}`;
}

/** SQL for these columns of one row of the ledger. */
export function sumsOfCall(): string {
  const units = QUANTITY_UNITS.map((unit) => `(quantities -> '${unit}')::bigint AS ${columnOfUnit(unit)}`);
  return [
    '1::bigint AS calls',
    `(source = 'presumed')::integer::bigint AS presumed_calls`,
    `(outcome = 'failed')::integer::bigint AS failed_calls`,
    'cost_nano',
    'tokens',
    ...units,
  ].join(', ');
}
