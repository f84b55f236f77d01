import type { TimeBucket } from './dto/usage-report.query.js';
import { isMetadataKey, metadataNameOf } from './metadata-key.js';
import { REPORT_COLUMNS, type ReportKey } from './report-keys.js';
import { columnOfUnit } from './rollup-columns.js';
import { QUANTITY_UNITS } from './units.js';

/** Which rows of the ledger are added up, and by what. */
export interface ReportRange {
  readonly organisationId: string;
  readonly workspaceId: string | undefined;
  readonly from: Date;
  readonly to: Date;
  readonly bucket: TimeBucket;
  readonly groupBy: readonly ReportKey[];
  /** By column of the ledger. */
  readonly filters: Readonly<Record<string, string>>;
  /** Rows of one of these models; undefined for those of all models. */
  readonly models: readonly { readonly provider?: string; readonly model: string }[] | undefined;
  readonly metadata: Readonly<Record<string, string>> | undefined;
}

export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** null where no row has a figure of the unit. */
const SUMS_BY_UNIT = QUANTITY_UNITS.map(
  (unit) => `sum((quantities -> '${unit}')::bigint) AS ${columnOfUnit(unit)}`,
).join(', ');

/** Sums by period and group: columns `start`, `g0`, `g1`, …, then the sums. Text of callers is only ever a parameter. */
export function reportStatement(range: ReportRange): Statement {
  const parameters: unknown[] = [];
  const bind = (value: unknown): string => `$${parameters.push(value)}`;
  const groups = range.groupBy.map((key) => expressionOf(key, bind));
  const start =
    range.bucket === 'none' ? `${bind(range.from)}::timestamptz` : `date_trunc('${range.bucket}', at, 'UTC')`;
  const conditions = [
    `organisation_id = ${bind(range.organisationId)}`,
    `at >= ${bind(range.from)}`,
    `at < ${bind(range.to)}`,
    ...(range.workspaceId === undefined ? [] : [`workspace_id = ${bind(range.workspaceId)}`]),
    ...(Object.keys(range.filters).length === 0 ? [] : [equals(range.filters, bind)]),
    ...(range.models === undefined ? [] : [`(${range.models.map((model) => equals(model, bind)).join(' OR ')})`]),
    ...(range.metadata === undefined ? [] : [`metadata @> ${bind(JSON.stringify(range.metadata))}::jsonb`]),
  ];
  const places = ['start', ...groups].map((_, index) => index + 1).join(', ');
  const sql = `
    SELECT ${start} AS start, ${groups.map((group, index) => `${group} AS g${index}, `).join('')}
      count(*) AS calls, sum(cost_nano) AS cost_nano, sum(tokens) AS tokens, ${SUMS_BY_UNIT},
      count(*) FILTER (WHERE source = 'presumed') AS presumed, count(*) FILTER (WHERE outcome = 'failed') AS failed
    FROM usage_events WHERE ${conditions.join(' AND ')}
    GROUP BY ${places}`;
  return { sql, parameters };
}

/** One page of it, in the order of time. */
export function pageOf({ sql, parameters }: Statement, groups: number, skip: number, take: number): Statement {
  const order = Array.from({ length: groups + 1 }, (_, index) => index + 1).join(', ');
  const places = [parameters.length + 1, parameters.length + 2] as const;
  return {
    sql: `${sql} ORDER BY ${order} LIMIT $${places[0]} OFFSET $${places[1]}`,
    parameters: [...parameters, take, skip],
  };
}

export function countOf({ sql, parameters }: Statement): Statement {
  return { sql: `SELECT count(*) AS total FROM (${sql}) AS report`, parameters };
}

function equals(columns: Readonly<Record<string, string>>, bind: (value: unknown) => string): string {
  const terms = Object.entries(columns).map(([column, value]) => `${column} = ${bind(value)}`);
  return `(${terms.join(' AND ')})`;
}

function expressionOf(key: ReportKey, bind: (value: unknown) => string): string {
  return isMetadataKey(key) ? `metadata ->> ${bind(metadataNameOf(key))}::text` : REPORT_COLUMNS[key];
}
