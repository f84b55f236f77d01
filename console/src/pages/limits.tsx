import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { listUsageLimitsOptions } from '../api/@tanstack/react-query.gen';
import type { UsageLimit } from '../api/types.gen';
import { ListTools } from '../components/list-tools';
import { Page } from '../components/page';
import { type Column, Table } from '../components/table';
import { Badge } from '../components/ui/badge';
import { Button } from '../components/ui/button';
import { Card } from '../components/ui/card';
import { Meter } from '../components/ui/meter';
import { When } from '../components/when';
import { amount, quantity } from '../lib/format';
import { conditionsInWords, idsOf } from '../lib/limit-words';
import { useListSearch } from '../lib/list-search';
import { useLogin } from '../lib/login-context';
import { useNames } from '../lib/names';
import { refreshEvery } from '../lib/reach';
import { NewLimit } from './new-limit';

const REFRESH_MS = 5_000;

const COLUMNS: readonly Column<UsageLimit>[] = [
  {
    title: 'Limit',
    cell: (limit) => (
      <>
        <Link to="/limits/$ref" params={{ ref: limit.id }} className="font-medium text-accent hover:underline">
          {limit.name ?? limit.slug}
        </Link>
        <Conditions limit={limit} />
      </>
    ),
  },
  { title: 'Cap', kind: 'short', align: 'right', cell: (limit) => describeCap(limit) },
  {
    title: 'Fullest group',
    cell: (limit) => {
      const fullest = fullestOf(limit);
      if (fullest === undefined) return <span className="text-muted">not used yet</span>;
      return (
        <div className="space-y-1">
          <Meter
            label={`Used of ${limit.name ?? limit.slug}`}
            used={fullest.current_usage}
            reserved={fullest.reserved}
            limit={fullest.credit_limit}
          />
          <p className="text-xs text-muted tabular-nums">
            {amount(fullest.current_usage, limit.type)} of {quantity(fullest.credit_limit, limit.type)}
            {fullest.reserved > 0 && `, ${amount(fullest.reserved, limit.type)} reserved`}
          </p>
        </div>
      );
    },
  },
  {
    title: 'State',
    cell: (limit) => {
      const isUsedUp = limit.usage?.some(({ status }) => status === 'exhausted') ?? false;
      if (limit.status === 'archived') return <Badge>archived</Badge>;
      const isFull = limit.usage?.some((group) => group.current_usage >= group.credit_limit) ?? false;
      if (isFull && limit.enforcement === 'strict') return <Badge tone="bad">blocks calls</Badge>;
      // Smaller calls may still fit.
      if (isUsedUp && limit.enforcement === 'strict') return <Badge tone="bad">refused a call</Badge>;
      if (isUsedUp) return <Badge tone="warn">exceeded</Badge>;
      return limit.enforcement === 'strict' ? <Badge tone="good">active</Badge> : <Badge>monitor only</Badge>;
    },
  },
  {
    title: 'Resets',
    kind: 'short',
    isExtra: true,
    cell: ({ next_reset_at: at }) => <When at={at} />,
  },
];

const CHOICES = { active: 'Active', archived: 'Archived' };

export function LimitsPage() {
  const { may } = useLogin();
  const list = useListSearch();
  const [isCreating, setCreating] = useState(false);
  const status = list.status === 'archived' ? 'archived' : 'active';
  const limits = useQuery({
    ...listUsageLimitsOptions({ query: { ...list.paging, status, include_usage: 'true' } }),
    refetchInterval: refreshEvery(REFRESH_MS),
    placeholderData: (previous) => previous,
  });
  return (
    <Page
      title="Limits"
      intro="Caps on cost or tokens. A strict limit refuses a call before it is sent, under any concurrency and on any number of gateways."
      actions={
        may('policies.create') && (
          <Button kind="main" onClick={() => setCreating(true)}>
            <Plus aria-hidden className="size-4" />
            New limit
          </Button>
        )
      }
    >
      <ListTools list={list} label="State" value={status} options={CHOICES} />
      <Card>
        <Table
          caption="Limits"
          columns={COLUMNS}
          query={limits}
          keyOf={({ id }) => id}
          empty="No limit here. Without one, nothing bounds what calls cost."
          page={list.page}
          onPage={list.onPage}
          csv={{ path: '/v1/policies/usage-limits', query: { search: list.search, status } }}
        />
      </Card>
      {isCreating && <NewLimit onClose={() => setCreating(false)} />}
    </Page>
  );
}

export function describeCap({ credit_limit, type, periodic_reset, periodic_reset_days }: UsageLimit): string {
  const cap = quantity(credit_limit, type);
  if (periodic_reset === 'weekly') return `${cap} a week`;
  if (periodic_reset === 'monthly') return `${cap} a month`;
  if (periodic_reset_days === 1) return `${cap} a day`;
  return periodic_reset_days === null ? cap : `${cap} per ${periodic_reset_days} days`;
}

function Conditions({ limit }: { readonly limit: UsageLimit }) {
  const nameIds = useNames(idsOf(limit));
  return <p className="text-xs text-muted">{conditionsInWords(limit, nameIds)}</p>;
}

function fullestOf({ usage = [] }: UsageLimit) {
  return usage[0];
}
