import { QUANTITY_UNITS, type QuantityUnit } from './units.js';

/** By which the ledger is added up, beside the time: what calls of one group have in common. */
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

/** Figures of which there are sums, as the tables `usage_rollup…` name them. */
export const SUM_COLUMNS = [
  'calls',
  'presumed_calls',
  'failed_calls',
  'cost_nano',
  'tokens',
  ...QUANTITY_UNITS.map(columnOfUnit),
] as const;

/** Of a unit; null where no call has a figure of it. */
export function columnOfUnit(unit: QuantityUnit): `q_${QuantityUnit}` {
  return `q_${unit}`;
}

/** The same columns for one row of the ledger, in SQL. */
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
