import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { listUsageLimitsOptions, retrieveOverviewOptions } from '../api/@tanstack/react-query.gen';
import type { Overview, OverviewGroup, OverviewPeriod, UsagePeriod } from '../api/types.gen';
import { CsvButton } from '../components/csv-button';
import { Page } from '../components/page';
import { Empty, ErrorNote, Loading } from '../components/states';
import type { SpendPoint } from '../components/spend-chart';
import { Card } from '../components/ui/card';
import { Select } from '../components/ui/field';
import { Meter } from '../components/ui/meter';
import { Attention } from './attention';
import { cn } from '../lib/cn';
import { useLogin } from '../lib/login-context';
import { useNames } from '../lib/names';
import { providerName } from '../lib/providers';
import { amount, counted, dollars, percent, quantity, short, whole } from '../lib/format';
import { refreshEvery } from '../lib/reach';
import { readPeriods } from '../lib/usage-periods';
import { groupInWords, keyInWords } from '../lib/limit-words';

// The library of charts is half of the whole page.
const SpendChart = lazy(async () => ({ default: (await import('../components/spend-chart')).SpendChart }));

const DAY_SECONDS = 86_400;
const REFRESH_MS = 15_000;
/** As `GET /v1/usage` calls them. */
const REPORT_KEYS = { model: 'model', provider: 'provider', workspace: 'workspace_id', api_key: 'api_key' } as const;
const GROUPS = { model: 'Model', provider: 'Provider', workspace: 'Workspace', api_key: 'API key' } as const;
type Group = keyof typeof GROUPS;
/** Series of the chart; the rest is one series more. */
const TOP = 4;

export function OverviewPage() {
  const { may } = useLogin();
  const [group, setGroup] = useState<Group>('model');
  const overview = useQuery({ ...retrieveOverviewOptions(), refetchInterval: refreshEvery(REFRESH_MS) });
  const grouped = useQuery({
    queryKey: ['cost by day', group],
    // With their grouping: they stay until those of the next one are there.
    queryFn: async ({ signal }) => {
      const query = { from: startOfDay(6), bucket: 'day', group_by: REPORT_KEYS[group] } as const;
      return { group, periods: await readPeriods(query, signal) };
    },
    refetchInterval: refreshEvery(REFRESH_MS),
    placeholderData: (previous) => previous,
  });
  return (
    <Page
      title="Overview"
      intro="What calls have used, in UTC days. Attempts are the calls that reached a provider or MCP server, each retry included. Figures refresh by themselves."
    >
      {overview.isPending && <Loading />}
      {overview.isLoadingError && <ErrorNote error={overview.error} onRetry={() => void overview.refetch()} />}
      {overview.data !== undefined && <Sums overview={overview.data} />}
      {overview.data !== undefined && overview.data.attention.length > 0 && (
        <Attention items={overview.data.attention} />
      )}
      <Card
        title="Cost of the last 7 days"
        side={
          <div className="flex flex-wrap items-center gap-2">
            <Select
              aria-label="Group the cost by"
              className="w-40"
              value={group}
              onChange={({ target }) => setGroup(isGroup(target.value) ? target.value : 'model')}
            >
              {Object.entries(GROUPS).map(([key, title]) => (
                <option key={key} value={key}>
                  {title}
                </option>
              ))}
            </Select>
            <CsvButton
              path="/v1/usage"
              query={{ from: startOfDay(6), bucket: 'day', group_by: REPORT_KEYS[group] }}
              label="CSV of the usage"
            />
          </div>
        }
      >
        {grouped.isPending && <Loading />}
        {grouped.isLoadingError && <ErrorNote error={grouped.error} onRetry={() => void grouped.refetch()} />}
        {grouped.data !== undefined && overview.data !== undefined && (
          <>
            {grouped.data.periods.every(({ cost }) => cost === 0) ? (
              <Empty>No call that cost anything in the last seven days.</Empty>
            ) : (
              <GroupedCost {...grouped.data} groups={overview.data.groups[grouped.data.group]} />
            )}
            {overview.data.groups[group].length > 0 && (
              <GroupTable groups={overview.data.groups[group]} group={group} />
            )}
          </>
        )}
      </Card>
      {may('policies.list') && <FullestLimits />}
    </Page>
  );
}

function Sums({ overview: { today, last_7_days: week, month, latency } }: { readonly overview: Overview }) {
  return (
    <div className="grid grid-cols-1 gap-3 sm:grid-cols-2 xl:grid-cols-4">
      <Figures title="Today" sums={today} />
      <Figures title="Last 7 days" sums={week} />
      <Figures title="This month" sums={month} />
      <Card title="Time of a call" className="min-w-0">
        {latency === null ? (
          <Empty>No call in the last 24 hours.</Empty>
        ) : (
          <dl className="grid grid-cols-2 gap-x-4 gap-y-2 p-4">
            <Figure label={`${percent(95, 100)} within`} value={`${whole(latency.p95_ms)} ms`} />
            <Figure label="Half within" value={`${whole(latency.p50_ms)} ms`} />
            <Figure label="Of the last 24 hours" value={counted(latency.calls, 'call', short)} />
          </dl>
        )}
      </Card>
    </div>
  );
}

function Figures({ title, sums }: { readonly title: string; readonly sums: OverviewPeriod }) {
  const { calls, failed_calls: failed, cost, tokens } = sums;
  return (
    <Card title={title} className="min-w-0">
      <dl className="grid grid-cols-2 gap-x-4 gap-y-2 p-4">
        <Figure label="Cost" value={dollars(cost)} />
        <Figure label="Attempts" value={whole(calls)} />
        <Figure label="Tokens" value={short(tokens)} />
        <Figure label="Failed" value={failed === 0 ? '0' : `${whole(failed)} (${percent(failed, calls)})`} />
      </dl>
    </Card>
  );
}

function Figure({ label, value }: { readonly label: string; readonly value: string }) {
  return (
    <div>
      <dt className="text-xs text-muted">{label}</dt>
      <dd className="text-lg font-semibold tabular-nums">{value}</dd>
    </div>
  );
}

/** The same figures as the chart's, and how many attempts they are of. */
function GroupTable({ groups, group }: { readonly groups: readonly OverviewGroup[]; readonly group: Group }) {
  const title = GROUPS[group];
  return (
    <div className="overflow-x-auto border-t border-line" tabIndex={0} role="region" aria-label={`By ${title}`}>
      <table className="w-full text-left">
        <caption className="sr-only">Dearest of the last seven days</caption>
        <thead className="text-xs text-muted">
          <tr>
            <th scope="col" className="px-4 py-2 font-medium">
              {title}
            </th>
            {['Cost', 'Attempts', 'Failed', 'Tokens'].map((column) => (
              <th key={column} scope="col" className={cn('px-4 py-2 text-right font-medium', classOf(column))}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="tabular-nums">
          {groups.map((one) => (
            <tr key={one.id ?? ''} className="border-t border-line">
              <th scope="row" className="px-4 py-2 font-normal wrap-anywhere">
                {nameOf(one, group)}
              </th>
              <td className="px-4 py-2 text-right">{dollars(one.cost)}</td>
              <td className="px-4 py-2 text-right">{whole(one.calls)}</td>
              <td className={cn('px-4 py-2 text-right', classOf('Failed'))}>{whole(one.failed_calls)}</td>
              <td className={cn('px-4 py-2 text-right', classOf('Tokens'))}>{short(one.tokens)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** On a narrow window, cost and attempts are enough. */
function classOf(column: string): string | false {
  return (column === 'Failed' || column === 'Tokens') && 'max-sm:hidden';
}

function nameOf({ id, name }: Pick<OverviewGroup, 'id' | 'name'>, group: Group): string {
  if (name !== null) return name;
  if (id === null) return `no ${keyInWords(REPORT_KEYS[group])}`;
  return group === 'provider' ? providerName(id) : id;
}

interface GroupedCostProps {
  readonly periods: readonly UsagePeriod[];
  /** The dearest first. */
  readonly groups: readonly OverviewGroup[];
  readonly group: Group;
}

function GroupedCost({ periods, groups, group }: GroupedCostProps) {
  const names = new Map(groups.slice(0, TOP).map((one) => [one.id, nameOf(one, group)]));
  const seriesOf = ({ group: values }: UsagePeriod): string =>
    names.get(values[REPORT_KEYS[group]] ?? null) ?? 'others';
  const series = [...new Set([...names.values(), ...(groups.length > TOP ? ['others'] : [])])];
  const days = new Map<number, Map<string, number>>();
  for (let back = 6; back >= 0; back -= 1) days.set(startOfDay(back), new Map());
  for (const period of periods) {
    const name = seriesOf(period);
    const day = days.get(period.start);
    day?.set(name, (day.get(name) ?? 0) + period.cost);
  }
  const points: SpendPoint[] = [...days].map(([start, costs]) => ({ start, costs: Object.fromEntries(costs) }));
  return (
    <Suspense fallback={<Loading />}>
      <SpendChart points={points} series={series} />
    </Suspense>
  );
}

function FullestLimits() {
  const limits = useQuery({
    ...listUsageLimitsOptions({ query: { status: 'active', page_size: 100, include_usage: 'true' } }),
    refetchInterval: refreshEvery(REFRESH_MS),
  });
  const rows = (limits.data?.data ?? [])
    .flatMap((limit) => (limit.usage ?? []).map((entity) => ({ limit, entity })))
    .sort((one, other) => shareOf(other.entity) - shareOf(one.entity))
    .slice(0, 5);
  const nameIds = useNames(rows.map(({ entity }) => entity.value_key));
  if (limits.isPending) return null;
  if (limits.isLoadingError) return <ErrorNote error={limits.error} />;
  return (
    <Card
      title="Fullest limits"
      side={
        <Link to="/limits" className="text-accent hover:underline">
          All limits
        </Link>
      }
    >
      {rows.length === 0 ? (
        <Empty>No limit has been used yet.</Empty>
      ) : (
        <ul className="grid divide-y divide-line sm:grid-cols-[1fr_1fr_auto]">
          {rows.map(({ limit, entity }) => (
            <li key={entity.id} className="grid gap-2 px-4 py-3 sm:col-span-3 sm:grid-cols-subgrid sm:items-center">
              <div className="min-w-0">
                <p className="truncate font-medium">{limit.name ?? limit.slug}</p>
                <p className="truncate text-xs text-muted" title={entity.value_key}>
                  {groupInWords(entity.value_key, nameIds)}
                </p>
              </div>
              <Meter
                label={`Used of ${limit.name ?? limit.slug}`}
                used={entity.current_usage}
                reserved={entity.reserved}
                limit={entity.credit_limit}
              />
              <p className="text-right tabular-nums">
                {amount(entity.current_usage, limit.type)} of {quantity(entity.credit_limit, limit.type)}
              </p>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function shareOf(entity: { readonly current_usage: number; readonly credit_limit: number }): number {
  return entity.credit_limit <= 0 ? 1 : entity.current_usage / entity.credit_limit;
}

/** The start of a day in UTC, so many days ago, in Unix seconds. */
function startOfDay(daysAgo: number): number {
  const now = Math.floor(Date.now() / 1_000);
  return now - (now % DAY_SECONDS) - daysAgo * DAY_SECONDS;
}

function isGroup(text: string): text is Group {
  return text in GROUPS;
}
