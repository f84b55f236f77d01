import { Injectable } from '@nestjs/common';
import type { Principal } from '../access/principal.js';
import { fromScaled } from '../common/money/decimal.js';
import { Clock } from '../common/time/clock.js';
import { toUnixSeconds } from '../common/time/unix-time.js';
import { ReportQueries, type ReadRows } from '../usage/report-queries.js';
import { costliestStatement, type ReportRange, reportStatement } from '../usage/report-statement.js';
import { attentionStatements, type AttentionRow, latencyStatement } from './attention.js';
import type {
  OverviewAttentionResponse,
  OverviewGroupResponse,
  OverviewLatencyResponse,
  OverviewPeriodResponse,
  OverviewResponse,
} from './overview.response.js';

const DAY_MS = 86_400_000;
const WEEK_DAYS = 7;
/** Groups of each kind. */
const MOST = 10;
const NANO_DECIMALS = 9;
const GROUPS = { provider: 'provider', model: 'model', workspace: 'workspace_id', api_key: 'api_key' } as const;
const NAMED = { workspace: 'workspaces', api_key: 'api_keys' } as const;

/** Sums arrive as text: they may be more than a number holds. */
interface SumsRow {
  readonly calls: string;
  readonly failed_calls: string;
  readonly cost_nano: string;
  readonly tokens: string;
  readonly g0?: string | null;
}

/** Puts together what an administrator looks at first. */
@Injectable()
export class OverviewService {
  constructor(
    private readonly queries: ReportQueries,
    private readonly clock: Clock,
  ) {}

  /** @throws GatewayError `report_busy`, `report_too_large` */
  async read(principal: Principal): Promise<OverviewResponse> {
    const now = this.clock.now();
    const today = new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS);
    const week = new Date(today.getTime() - (WEEK_DAYS - 1) * DAY_MS);
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()));
    return this.queries.run(principal.organisationId, async (read) => {
      const sumsFrom = async (from: Date): Promise<OverviewPeriodResponse> => {
        const statement = reportStatement(rangeOf(principal, from, now), { skip: 0, take: 1, sort: 'start' });
        const [row] = await read<SumsRow>(statement);
        return { start: toUnixSeconds(from), ...toSums(row) };
      };
      const top = (kind: keyof typeof GROUPS): Promise<OverviewGroupResponse[]> =>
        groupsOf(read, rangeOf(principal, week, now, kind), kind);
      return {
        object: 'overview',
        today: await sumsFrom(today),
        last_7_days: await sumsFrom(week),
        month: await sumsFrom(month),
        latency: await latencyOf(read, principal, now),
        groups: {
          provider: await top('provider'),
          model: await top('model'),
          workspace: await top('workspace'),
          api_key: await top('api_key'),
        },
        attention: await attentionOf(read, principal, now),
      };
    });
  }
}

function rangeOf(
  { organisationId, workspaceId }: Principal,
  from: Date,
  to: Date,
  kind?: keyof typeof GROUPS,
): ReportRange {
  return {
    organisationId,
    workspaceId: workspaceId ?? undefined,
    from,
    to,
    isOpen: true,
    bucket: 'none',
    groupBy: kind === undefined ? [] : [GROUPS[kind]],
    filters: {},
    models: undefined,
    metadata: undefined,
  };
}

async function groupsOf(
  read: ReadRows,
  range: ReportRange,
  kind: keyof typeof GROUPS,
): Promise<OverviewGroupResponse[]> {
  const rows = await read<SumsRow>(costliestStatement(range, MOST));
  const names = kind === 'workspace' || kind === 'api_key' ? await namesOf(read, range, rows, NAMED[kind]) : undefined;
  return rows.map((row) => {
    const id = row.g0 ?? null;
    return { id, name: names === undefined ? id : (names.get(id ?? '') ?? null), ...toSums(row) };
  });
}

async function namesOf(
  read: ReadRows,
  { organisationId }: ReportRange,
  rows: readonly SumsRow[],
  table: (typeof NAMED)[keyof typeof NAMED],
): Promise<ReadonlyMap<string, string>> {
  const found = await read<{ readonly id: string; readonly name: string }>({
    sql: `SELECT id, name FROM ${table} WHERE organisation_id = $1 AND id::text = ANY($2)`,
    parameters: [organisationId, rows.map(({ g0 }) => g0 ?? '')],
  });
  return new Map(found.map(({ id, name }) => [id, name]));
}

async function latencyOf(read: ReadRows, principal: Principal, now: Date): Promise<OverviewLatencyResponse | null> {
  const [row] = await read<OverviewLatencyResponse>(latencyStatement(principal, now));
  return row === undefined || row.calls === 0 ? null : { calls: row.calls, p50_ms: row.p50_ms, p95_ms: row.p95_ms };
}

async function attentionOf(read: ReadRows, principal: Principal, now: Date): Promise<OverviewAttentionResponse[]> {
  const found: OverviewAttentionResponse[] = [];
  for (const statement of attentionStatements(principal, now)) {
    const rows = await read<AttentionRow>(statement);
    found.push(...rows.map(({ at, ...row }) => ({ ...row, at: toUnixSeconds(at) })));
  }
  return found;
}

function toSums(row: SumsRow | undefined) {
  return {
    calls: Number(row?.calls ?? 0),
    failed_calls: Number(row?.failed_calls ?? 0),
    cost: fromScaled(BigInt(row?.cost_nano ?? 0), NANO_DECIMALS),
    tokens: Number(row?.tokens ?? 0),
  };
}
