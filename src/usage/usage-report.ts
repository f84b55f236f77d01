import { Injectable } from '@nestjs/common';
import type { Principal } from '../access/principal.js';
import { invalidField } from '../common/errors/gateway.error.js';
import { fromScaled } from '../common/money/decimal.js';
import { toSkipTake } from '../common/pagination/list.js';
import { Clock } from '../common/time/clock.js';
import { fromUnixSeconds, toUnixSeconds } from '../common/time/unix-time.js';
import { withoutUndefined } from '../common/without-undefined.js';
import { WorkspacesService } from '../workspaces/workspaces.service.js';
import type { TimeBucket, UsageReportQuery } from './dto/usage-report.query.js';
import { foldNames } from './call-names.js';
import { inLedger } from './ledger-columns.js';
import { canonicalModel, possibleModels } from './model-names.js';
import { ReportQueries } from './report-queries.js';
import { QUANTITY_UNITS, type QuantityUnit } from './units.js';
import { columnOfUnit } from './rollup-columns.js';
import { countStatement, type ReportRange, reportStatement } from './report-statement.js';
import type { ReportKey } from './report-keys.js';
import type { UsagePeriodResponse, UsageReportResponse } from './usage-report.response.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DEFAULT_RANGE_MS = 30 * DAY_MS;
const MAX_DAYS: Readonly<Record<TimeBucket, number>> = { hour: 31, day: 366, month: 3_660, none: 3_660 };
const NANO_DECIMALS = 9;

/** Sums arrive as text, since a number may not hold them exactly. */
type Row = Readonly<Record<'calls' | 'cost_nano' | 'tokens' | 'presumed_calls' | 'failed_calls' | 'total', string>> &
  Readonly<Record<`q_${QuantityUnit}`, string | null>> &
  Readonly<Record<`g${number}`, string | null>> & { readonly start: Date };

interface CountRow {
  readonly total: string;
}

/** Reports the usage of calls: whole hours from sums, the rest from rows of the ledger. */
@Injectable()
export class UsageReport {
  constructor(
    private readonly queries: ReportQueries,
    private readonly workspaces: WorkspacesService,
    private readonly clock: Clock,
  ) {}

  async read(principal: Principal, query: UsageReportQuery): Promise<UsageReportResponse> {
    const range = await this.rangeOf(principal, query);
    const { skip, take } = toSkipTake(query);
    return this.queries.run(principal.organisationId, async (read) => {
      const rows = await read<Row>(reportStatement(range, { skip, take, sort: query.sort }));
      // A page beyond the last one has no row with the total.
      const isBeyond = rows.length === 0 && skip > 0;
      const total = countIn(isBeyond ? await read<CountRow>(countStatement(range)) : rows);
      return { object: 'list', data: rows.map((row) => toPeriod(row, range)), total };
    });
  }

  private async rangeOf(principal: Principal, query: UsageReportQuery): Promise<ReportRange> {
    const { bucket, group_by: groupBy = [], workspace_id: ref, metadata } = query;
    const { virtual_key, mcp_server } = query;
    const mcp_tool = query.mcp_tool === undefined ? undefined : inLedger(query.mcp_tool);
    const { api_key: api_key_id, provider, endpoint } = foldNames(query);
    const times = this.timesOf(query);
    const workspaceId = ref === undefined ? principal.workspaceId : (await this.workspaces.get(principal, ref)).id;
    return {
      organisationId: principal.organisationId,
      workspaceId: workspaceId ?? undefined,
      ...times,
      bucket,
      groupBy,
      filters: withoutUndefined({ api_key_id, virtual_key, provider, endpoint, mcp_server, mcp_tool }),
      models: query.model === undefined ? undefined : modelsOf(query.model, provider),
      metadata,
    };
  }

  private timesOf(query: UsageReportQuery): Pick<ReportRange, 'from' | 'to' | 'isOpen'> {
    const isOpen = query.to === undefined;
    const to = query.to === undefined ? this.clock.now() : fromUnixSeconds(query.to);
    const from = query.from === undefined ? defaultStart(to) : fromUnixSeconds(query.from);
    const maxDays = MAX_DAYS[query.bucket];
    if (from >= to) throw invalidField('from', 'must be before to');
    if (to.getTime() - from.getTime() > maxDays * DAY_MS) {
      throw invalidField('from', `must be at most ${maxDays} days before to with bucket ${query.bucket}`);
    }
    return { from, to, isOpen };
  }
}

/** Rounds up to a full hour, so that no rows of the ledger are read for its beginning. */
function defaultStart(to: Date): Date {
  return new Date(Math.ceil((to.getTime() - DEFAULT_RANGE_MS) / HOUR_MS) * HOUR_MS);
}

function modelsOf(name: string, provider: string | undefined): ReportRange['models'] {
  const models = provider === undefined ? possibleModels(name) : [{ model: canonicalModel(provider, name) }];
  return models.map((each) => ({ ...each, model: inLedger(each.model) }));
}

function countIn([row]: readonly CountRow[]): number {
  return Number(row?.total ?? 0);
}

function toPeriod(row: Row, { bucket, groupBy, to }: ReportRange): UsagePeriodResponse {
  return {
    object: 'usage-bucket',
    start: toUnixSeconds(row.start),
    end: toUnixSeconds(endOf(bucket, row.start, to)),
    group: groupOf(row, groupBy),
    calls: Number(row.calls),
    cost: fromScaled(BigInt(row.cost_nano), NANO_DECIMALS),
    tokens: Number(row.tokens),
    search_units: Number(row.q_search_unit ?? 0),
    quantities: quantitiesOf(row),
    presumed_calls: Number(row.presumed_calls),
    failed_calls: Number(row.failed_calls),
  };
}

function quantitiesOf(row: Row): Readonly<Record<string, number>> {
  const known = QUANTITY_UNITS.flatMap((unit) => {
    const sum = row[columnOfUnit(unit)];
    return sum === null ? [] : [[unit, Number(sum)] as const];
  });
  return Object.fromEntries(known);
}

function groupOf(row: Row, groupBy: readonly ReportKey[]): Readonly<Record<string, string | null>> {
  return Object.fromEntries(groupBy.map((key, index) => [key, row[`g${index}`] ?? null]));
}

function endOf(bucket: TimeBucket, start: Date, to: Date): Date {
  switch (bucket) {
    case 'hour':
      return new Date(start.getTime() + HOUR_MS);
    case 'day':
      return new Date(start.getTime() + DAY_MS);
    case 'month':
      return new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1));
    case 'none':
      return to;
  }
}
