import type { ReportSort, TimeBucket } from './dto/usage-report.query.js';
import { isMetadataKey, metadataNameOf } from './metadata-key.js';
import { REPORT_COLUMNS, type ReportKey } from './report-keys.js';
import { endOfHour, type ReportSpan, spansOf } from './report-spans.js';
import { LEDGER_GROUP, SUM_COLUMNS, sumsOfCall } from './rollup-columns.js';

/** The calls of a report, and how they are grouped. */
export interface ReportRange {
  readonly organisationId: string;
  readonly workspaceId: string | undefined;
  readonly from: Date;
  readonly to: Date;
  /** Whether no end was given: `to` is now, and the report includes the current hour so far. */
  readonly isOpen: boolean;
  readonly bucket: TimeBucket;
  readonly groupBy: readonly ReportKey[];
  /** Values by column of the ledger. */
  readonly filters: Readonly<Record<string, string>>;
  /** Rows of one of these models; undefined for those of all models. */
  readonly models: readonly { readonly provider?: string; readonly model: string }[] | undefined;
  readonly metadata: Readonly<Record<string, string>> | undefined;
}

export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

type Bind = (value: unknown) => string;

const GROUP = LEDGER_GROUP.join(', ');
const GROUP_OF_SUMS = LEDGER_GROUP.map((column) => `g.${column}`).join(', ');
const NO_GROUP = LEDGER_GROUP.map((column) => `NULL::${isId(column) ? 'uuid' : 'varchar'} AS ${column}`).join(', ');
const FIGURES = SUM_COLUMNS.join(', ');
const SUMS = SUM_COLUMNS.map((column) => `sum(${column}) AS ${column}`).join(', ');

/** The sources of the calls of a report. Only the ledger has metadata. */
export function spansOfReport({ from, to, isOpen, bucket, groupBy, metadata }: ReportRange): readonly ReportSpan[] {
  if (metadata !== undefined || groupBy.some(isMetadataKey)) return [{ source: 'ledger', from, to }];
  return spansOf(from, isOpen ? endOfHour(to) : to, bucket);
}

/** The size, offset and order of a page of a report. */
export interface ReportPage {
  readonly skip: number;
  readonly take: number;
  readonly sort: ReportSort;
}

/** The orders, in columns of the statement. */
const ORDERS: Readonly<Record<ReportSort, string>> = {
  start: 'start',
  '-start': 'start DESC',
  cost: 'cost_nano',
  '-cost': 'cost_nano DESC',
  tokens: 'tokens',
  '-tokens': 'tokens DESC',
  calls: 'calls',
  '-calls': 'calls DESC',
};

/**
 * One page of sums by period and group: columns `start`, `g0`, `g1`, …, the sums, and `total`, the number
 * of rows of all pages. Text of callers is only ever a parameter.
 */
export function reportStatement(
  range: ReportRange,
  { skip, take, sort }: ReportPage,
  spans = spansOfReport(range),
): Statement {
  const { sql, parameters, places } = sumsOfReport(range, spans);
  const page = [parameters.length + 1, parameters.length + 2] as const;
  return {
    sql: `SELECT *, count(*) OVER () AS total FROM (${sql}) AS report ORDER BY ${ORDERS[sort]}, ${places} LIMIT $${page[0]} OFFSET $${page[1]}`,
    parameters: [...parameters, take, skip],
  };
}

/** The groups of a report with the highest cost, then those with the most calls. */
export function costliestStatement(range: ReportRange, take: number): Statement {
  const { sql, parameters } = sumsOfReport(range, spansOfReport(range));
  return {
    sql: `SELECT * FROM (${sql}) AS report ORDER BY cost_nano DESC, calls DESC, g0 LIMIT $${parameters.length + 1}`,
    parameters: [...parameters, take],
  };
}

/** The number of rows, for a page that has none. */
export function countStatement(range: ReportRange): Statement {
  const { sql, parameters } = sumsOfReport(range, spansOfReport(range));
  return { sql: `SELECT count(*) AS total FROM (${sql}) AS report`, parameters };
}

function sumsOfReport(range: ReportRange, spans: readonly ReportSpan[]): Statement & { readonly places: string } {
  const parameters: unknown[] = [];
  const bind: Bind = (value) => `$${parameters.push(value)}`;
  const groups = range.groupBy.map((key) => expressionOf(key, bind));
  const conditions = [
    ...(range.workspaceId === undefined ? [] : [`workspace_id = ${bind(range.workspaceId)}`]),
    ...(Object.keys(range.filters).length === 0 ? [] : [equals(range.filters, bind)]),
    ...(range.models === undefined ? [] : [`(${range.models.map((model) => equals(model, bind)).join(' OR ')})`]),
    ...(range.metadata === undefined ? [] : [`metadata @> ${bind(JSON.stringify(range.metadata))}::jsonb`]),
  ];
  const sources = sourcesOf(range, spans, groups.length + conditions.length > 0, bind);
  const places = ['start', ...groups].map((_, index) => index + 1).join(', ');
  const sql = `
    SELECT start, ${groups.map((group, index) => `${group} AS g${index}, `).join('')}${SUMS}
    FROM (${sources.join(' UNION ALL ')}) AS used
    ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`}
    GROUP BY ${places} HAVING sum(calls) > 0`;
  return { sql, parameters, places };
}

/**
 * Rows with the start of their period, the columns that reports group and filter by, and figures.
 * @param isGrouped whether the report names any of these columns: else the groups of sums need not be looked up
 */
function sourcesOf(
  { organisationId, from, bucket }: ReportRange,
  spans: readonly ReportSpan[],
  isGrouped: boolean,
  bind: Bind,
): readonly string[] {
  const organisation = bind(organisationId);
  const whole = bucket === 'none' ? `${bind(from)}::timestamptz` : undefined;
  const periodOf = (time: string): string => whole ?? `date_trunc('${bucket}', ${time}, 'UTC')`;
  return spans.map((span) => {
    const [first, end] = [bind(span.from), bind(span.to)];
    switch (span.source) {
      case 'ledger':
        return `SELECT ${periodOf('at')} AS start, ${GROUP}, metadata, ${sumsOfCall()} FROM usage_events
          WHERE organisation_id = ${organisation} AND at >= ${first} AND at < ${end}`;
      case 'notes':
        return `SELECT ${periodOf('hour')} AS start, ${GROUP}, NULL::jsonb AS metadata, ${FIGURES} FROM usage_rollup_changes
          WHERE organisation_id = ${organisation} AND hour >= ${first} AND hour < ${end}`;
      case 'days':
      case 'hours': {
        // A period that is the report's own need not be computed, which takes as long as two sums.
        const isPeriod = bucket === (span.source === 'days' ? 'day' : 'hour');
        return `SELECT ${isPeriod ? 'r.start' : periodOf('r.start')} AS start, ${isGrouped ? GROUP_OF_SUMS : NO_GROUP},
            NULL::jsonb AS metadata, ${FIGURES}
          FROM usage_rollups r ${isGrouped ? 'JOIN usage_rollup_groups g ON g.id = r.group_id' : ''}
          WHERE r.organisation_id = ${organisation} AND r.hours = ${span.source === 'days' ? 24 : 1}
            AND r.start >= ${first} AND r.start < ${end}`;
      }
    }
  });
}

function equals(columns: Readonly<Record<string, string>>, bind: Bind): string {
  const terms = Object.entries(columns).map(([column, value]) => `${column} = ${bind(value)}`);
  return `(${terms.join(' AND ')})`;
}

function expressionOf(key: ReportKey, bind: Bind): string {
  return isMetadataKey(key) ? `metadata ->> ${bind(metadataNameOf(key))}::text` : REPORT_COLUMNS[key];
}

function isId(column: (typeof LEDGER_GROUP)[number]): boolean {
  return column === 'organisation_id' || column === 'workspace_id';
}
