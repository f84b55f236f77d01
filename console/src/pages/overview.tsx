import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { listUsageLimitsOptions, retrieveUsageReportOptions } from '../api/@tanstack/react-query.gen';
import type { UsagePeriod } from '../api/types.gen';
import { Page } from '../components/page';
import { Empty, ErrorNote, Loading } from '../components/states';
import type { SpendPoint } from '../components/spend-chart';
import { Card } from '../components/ui/card';
import { Select } from '../components/ui/field';
import { Meter } from '../components/ui/meter';
import { useLogin } from '../lib/login-context';
import { amount, dollars, percent, short, whole } from '../lib/format';

// The library of charts is half of the whole page.
const SpendChart = lazy(async () => ({ default: (await import('../components/spend-chart')).SpendChart }));

const DAY_SECONDS = 86_400;
const REFRESH_MS = 15_000;
const GROUPS = { model: 'Model', provider: 'Provider', workspace: 'Workspace', api_key: 'API key' } as const;
type Group = keyof typeof GROUPS;
/** Series of the chart; the rest is one series more. */
const TOP = 4;

export function OverviewPage() {
  const { may } = useLogin();
  const [group, setGroup] = useState<Group>('model');
  const today = startOfDay(0);
  const report = (days: number) => ({ from: startOfDay(days - 1), bucket: 'day', page_size: 100 }) as const;
  const month = useQuery({
    ...retrieveUsageReportOptions({ query: report(30) }),
    refetchInterval: REFRESH_MS,
  });
  const grouped = useQuery({
    ...retrieveUsageReportOptions({ query: { ...report(7), group_by: group } }),
    refetchInterval: REFRESH_MS,
    placeholderData: (previous) => previous,
  });
  return (
    <Page title="Overview" intro="What calls have used, in UTC days. Figures refresh by themselves.">
      {month.isPending && <Loading />}
      {month.isError && <ErrorNote error={month.error} onRetry={() => void month.refetch()} />}
      {month.isSuccess && (
        <div className="grid grid-cols-1 gap-3 sm:grid-cols-3">
          <Figures title="Today" periods={month.data.data.filter(({ start }) => start >= today)} />
          <Figures title="Last 7 days" periods={month.data.data.filter(({ start }) => start >= startOfDay(6))} />
          <Figures title="Last 30 days" periods={month.data.data} />
        </div>
      )}
      <Card
        title="Cost by day"
        side={
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
        }
      >
        {grouped.isPending && <Loading />}
        {grouped.isError && <ErrorNote error={grouped.error} onRetry={() => void grouped.refetch()} />}
        {grouped.isSuccess &&
          (grouped.data.data.length === 0 ? (
            <Empty>No call in the last seven days.</Empty>
          ) : (
            <GroupedCost periods={grouped.data.data} group={group} />
          ))}
      </Card>
      {may('policies.list') && <FullestLimits />}
    </Page>
  );
}

function Figures({ title, periods }: { readonly title: string; readonly periods: readonly UsagePeriod[] }) {
  const sum = (of: (period: UsagePeriod) => number): number => periods.reduce((total, one) => total + of(one), 0);
  const calls = sum((period) => period.calls);
  const failed = sum((period) => period.failed_calls);
  return (
    <Card title={title} className="min-w-0">
      <dl className="grid grid-cols-2 gap-x-4 gap-y-2 p-4">
        <Figure label="Cost" value={dollars(sum((period) => period.cost))} />
        <Figure label="Calls" value={whole(calls)} />
        <Figure label="Tokens" value={short(sum((period) => period.tokens))} />
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

function GroupedCost({ periods, group }: { readonly periods: readonly UsagePeriod[]; readonly group: Group }) {
  const nameOf = ({ group: values }: UsagePeriod): string => values[group] ?? 'none';
  const totals = new Map<string, number>();
  for (const period of periods) totals.set(nameOf(period), (totals.get(nameOf(period)) ?? 0) + period.cost);
  const top = [...totals]
    .sort((one, other) => other[1] - one[1])
    .slice(0, TOP)
    .map(([name]) => name);
  const series = totals.size > TOP ? [...top, 'others'] : top;
  const days = new Map<number, Map<string, number>>();
  for (let back = 6; back >= 0; back -= 1) days.set(startOfDay(back), new Map());
  for (const period of periods) {
    const name = top.includes(nameOf(period)) ? nameOf(period) : 'others';
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
    refetchInterval: REFRESH_MS,
  });
  if (limits.isPending) return null;
  if (limits.isError) return <ErrorNote error={limits.error} />;
  const rows = limits.data.data
    .flatMap((limit) => (limit.usage ?? []).map((entity) => ({ limit, entity })))
    .sort((one, other) => shareOf(other.entity) - shareOf(one.entity))
    .slice(0, 5);
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
        <ul className="divide-y divide-line">
          {rows.map(({ limit, entity }) => (
            <li key={entity.id} className="grid gap-2 px-4 py-3 sm:grid-cols-[1fr_1fr_auto] sm:items-center">
              <div className="min-w-0">
                <p className="truncate font-medium">{limit.name ?? limit.slug}</p>
                <p className="truncate text-xs text-muted">{entity.value_key}</p>
              </div>
              <Meter
                label={`Used of ${limit.name ?? limit.slug}`}
                used={entity.current_usage}
                reserved={entity.reserved}
                limit={entity.credit_limit}
              />
              <p className="text-right tabular-nums">
                {amount(entity.current_usage, limit.type)} of {amount(entity.credit_limit, limit.type)}
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
