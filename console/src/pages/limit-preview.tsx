import { useQuery } from '@tanstack/react-query';
import { simulateUsage } from '../api/sdk.gen';
import type { UsagePeriod, UsageSimulation } from '../api/types.gen';
import { Badge, type Tone } from '../components/ui/badge';
import { Meter } from '../components/ui/meter';
import { amount, counted } from '../lib/format';
import { inWorkspace } from '../lib/in-workspace';
import type { LimitValues } from '../lib/limit-values';
import { keyInWords } from '../lib/limit-words';
import { useNames } from '../lib/names';
import { messageOf } from '../lib/session';
import { readPeriods } from '../lib/usage-periods';

const DAY_SECONDS = 86_400;
const SHOWN = 5;

/** A limit that is not made yet. */
export interface LimitDraft extends Readonly<
  Pick<LimitValues, 'type' | 'workspace' | 'condition' | 'value' | 'group'>
> {
  readonly cap: number;
  /** How many days the preview looks back. */
  readonly days: number;
}

/** What the limit would have done to the calls of the last days, and what the limits of today say of such a call. */
export function LimitPreview({ draft }: { readonly draft: LimitDraft }) {
  return (
    <section aria-label="What this limit would do" className="space-y-3 rounded-md bg-raised p-3">
      <Past draft={draft} />
      <Present draft={draft} />
    </section>
  );
}

function Past({ draft: { type, cap, days, workspace, condition, value, group } }: { readonly draft: LimitDraft }) {
  const now = Math.floor(Date.now() / 1_000);
  const from = now - (now % DAY_SECONDS) - (days - 1) * DAY_SECONDS;
  // A pattern is no filter of the report, which then is of all calls.
  const isExact = value !== '' && !value.includes('*');
  const where = { ...(isExact && { [condition]: value }), ...inWorkspace(workspace) };
  const query = { from, bucket: 'none', group_by: group, ...where } as const;
  const report = useQuery({
    queryKey: ['usage by group', query],
    // Rows of another grouping stay until the new ones are there: they keep the names that they have by it.
    queryFn: async ({ signal }) =>
      (await readPeriods(query, signal)).map((period) => ({ period, id: nameOf(period, group) })),
    placeholderData: (previous) => previous,
    retry: false,
  });
  // A limit of one workspace counts no call of another.
  const isNever = condition === 'workspace_id' && isExact && workspace !== '' && workspace !== value;
  const groups = (isNever ? [] : (report.data ?? []))
    .map(({ period, id }) => ({ id, used: period[type] }))
    .sort((one, other) => other.used - one.used);
  const shown = groups.slice(0, SHOWN);
  const nameIds = useNames(shown.map(({ id }) => id));
  if (report.data === undefined)
    return <p className="text-muted">{report.isError ? messageOf(report.error) : 'Reading…'}</p>;
  const most = groups[0]?.used ?? 0;
  return (
    <div className="space-y-2">
      <p>
        {inWords(groups, cap, days)}
        {!isExact && value !== '*' && <span className="text-muted"> Of all calls: a pattern cannot be looked up.</span>}
      </p>
      <ul className="grid grid-cols-[minmax(0,1fr)_minmax(0,1fr)_auto] gap-x-2 gap-y-1">
        {shown.map(({ id, used }) => (
          <li key={id} className="col-span-3 grid grid-cols-subgrid items-center text-xs">
            <span className="truncate" title={id}>
              {nameIds(id)}
            </span>
            <Meter
              label={`Would have been used by ${nameIds(id)}`}
              used={used}
              reserved={0}
              limit={cap > 0 ? cap : Math.max(most * 2, 1)}
            />
            <span className="text-right tabular-nums">{amount(used, type)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function inWords(groups: readonly { readonly used: number }[], cap: number, days: number): string {
  const period = days === 1 ? 'day' : `${days} days`;
  if (groups.length === 0) return `No such call in the last ${period}.`;
  if (cap <= 0) return `What groups have used in the last ${period}:`;
  const over = groups.filter(({ used }) => used >= cap).length;
  return `In the last ${period}, ${over} of ${counted(groups.length, 'group')} would have reached the cap.`;
}

function nameOf({ group: values }: UsagePeriod, group: string): string {
  return values[group] ?? `no ${keyInWords(group)}`;
}

const DECISIONS: Readonly<Record<UsageSimulation['decision'], readonly [Tone, string]>> = {
  admitted: ['good', 'passes'],
  not_metered: ['plain', 'is not counted'],
  contended: ['warn', 'waits for calls in flight'],
  exceeded: ['bad', 'is refused'],
  price_unknown: ['bad', 'is refused without a price'],
};

function Present({ draft: { workspace, condition, value } }: { readonly draft: LimitDraft }) {
  const isNamed = value !== '' && !value.includes('*');
  const body = { ...(isNamed && { [condition]: value }), ...inWorkspace(workspace) };
  const simulation = useQuery({
    queryKey: ['simulate', body],
    queryFn: async () => (await simulateUsage({ body, throwOnError: true })).data,
    retry: false,
  });
  if (simulation.data === undefined) {
    return <p className="text-muted">{simulation.isError ? simulation.error.message : 'Reading…'}</p>;
  }
  const { decision, policies } = simulation.data;
  const [tone, words] = DECISIONS[decision];
  return (
    <p>
      Such a call today: <Badge tone={tone}>{words}</Badge>{' '}
      <span className="text-muted">
        {policies.length === 0
          ? 'no limit applies yet.'
          : `${policies.length} ${policies.length === 1 ? 'limit applies' : 'limits apply'}: ${policies.map(({ name, policy_id: id }) => name ?? id).join(', ')}.`}
      </span>
    </p>
  );
}
