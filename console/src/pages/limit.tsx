import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { listUsageLimitEntitiesOptions, retrieveUsageLimitOptions } from '../api/@tanstack/react-query.gen';
import { archiveUsageLimit, resetUsageLimitEntity, updateUsageLimit } from '../api/sdk.gen';
import type { UsageEntity, UsageLimit } from '../api/types.gen';
import { Confirm } from '../components/confirm';
import { ListTools } from '../components/list-tools';
import { Page } from '../components/page';
import { ErrorNote, Loading } from '../components/states';
import { type Column, Table } from '../components/table';
import { Badge } from '../components/ui/badge';
import { Button, SendButton } from '../components/ui/button';
import { Card } from '../components/ui/card';
import { Meter } from '../components/ui/meter';
import { When } from '../components/when';
import { amount, quantity } from '../lib/format';
import { conditionsInWords, groupInWords, idsOf } from '../lib/limit-words';
import { useListSearch } from '../lib/list-search';
import { useLogin } from '../lib/login-context';
import { useNames } from '../lib/names';
import { refreshEvery } from '../lib/reach';
import { ChangeLimit } from './change-limit';
import { describeCap } from './limits';

const REFRESH_MS = 5_000;

const CHOICES = { '': 'All groups', exhausted: 'Used up' };

/** One limit with its groups: who has used how much, and who is blocked. */
export function LimitPage() {
  const { ref } = useParams({ strict: false });
  const found = useQuery({
    ...retrieveUsageLimitOptions({ path: { ref: ref ?? '' } }),
    refetchInterval: refreshEvery(REFRESH_MS),
  });
  if (found.isPending) return <Loading />;
  if (found.isLoadingError) {
    return (
      <Page title="Limit">
        <ErrorNote error={found.error} onRetry={() => void found.refetch()} />
      </Page>
    );
  }
  return <Groups limit={found.data} />;
}

function Groups({ limit }: { readonly limit: UsageLimit }) {
  const { may } = useLogin();
  const navigate = useNavigate();
  const list = useListSearch();
  const [isChanging, setChanging] = useState(false);
  const [isArchiving, setArchiving] = useState(false);
  const [resetting, setResetting] = useState<UsageEntity>();
  const status = list.status === 'exhausted' ? 'exhausted' : undefined;
  const groups = useQuery({
    ...listUsageLimitEntitiesOptions({ path: { ref: limit.id }, query: { ...list.paging, ...(status && { status }) } }),
    refetchInterval: refreshEvery(REFRESH_MS),
    placeholderData: (previous) => previous,
  });
  const keys = (groups.data?.data ?? []).map(({ value_key: key }) => key);
  const nameIds = useNames([...idsOf(limit), ...keys]);
  const name = limit.name ?? limit.slug;
  const nameOf = ({ value_key: key }: UsageEntity): string => groupInWords(key, nameIds);
  return (
    <Page
      title={name}
      intro={`${describeCap(limit)}. ${conditionsInWords(limit, nameIds)}.`}
      actions={
        limit.status === 'active' && (
          <div className="flex gap-2">
            {may('policies.update') && <Button onClick={() => setChanging(true)}>Change</Button>}
            {may('policies.delete') && (
              <Button kind="danger" onClick={() => setArchiving(true)}>
                Archive
              </Button>
            )}
          </div>
        )
      }
    >
      {limit.status === 'active' && limit.enforcement === 'monitor' && <MonitorNote limit={limit} />}
      <ListTools list={list} label="State" value={status ?? ''} options={CHOICES} />
      <Card>
        <Table
          caption={`Groups of ${name}`}
          columns={columns(limit, nameOf, may('policies.update') ? setResetting : undefined)}
          query={groups}
          keyOf={({ id }) => id}
          empty="No group here. A group appears with its first call."
          page={list.page}
          onPage={list.onPage}
          csv={{ path: `/v1/policies/usage-limits/${limit.id}/entities`, query: { search: list.search, status } }}
        />
      </Card>
      {isChanging && <ChangeLimit limit={limit} onClose={() => setChanging(false)} />}
      {isArchiving && (
        <Confirm
          title={`Archive ${name}`}
          action="Archive"
          onConfirm={async () => {
            await archiveUsageLimit({ path: { ref: limit.id }, throwOnError: true });
            await navigate({ to: '/limits' });
          }}
          onClose={() => setArchiving(false)}
        >
          <p>The limit stops counting and refusing calls. What was used stays in the reports.</p>
        </Confirm>
      )}
      {resetting !== undefined && <Reset limit={limit} entity={resetting} onClose={() => setResetting(undefined)} />}
    </Page>
  );
}

/** Says that a limit only monitors, and can make it strict. */
function MonitorNote({ limit }: { readonly limit: UsageLimit }) {
  const { may } = useLogin();
  const strict = useMutation({
    meta: { done: 'The limit is strict now.' },
    mutationFn: () =>
      updateUsageLimit({ path: { ref: limit.id }, body: { enforcement: 'strict' }, throwOnError: true }),
  });
  return (
    <>
      <Card className="flex flex-wrap items-center justify-between gap-3 p-4">
        <p>
          <Badge>monitors</Badge> This limit counts and refuses nothing. When its figures look right, make it strict.
        </p>
        {may('policies.update') && (
          <SendButton kind="main" sent={strict} onSend={() => strict.mutate()}>
            Make strict
          </SendButton>
        )}
      </Card>
      {strict.isError && <ErrorNote error={strict.error} />}
    </>
  );
}

function Reset(props: { limit: UsageLimit; entity: UsageEntity; onClose: () => void }) {
  const { limit, entity, onClose } = props;
  const nameIds = useNames([entity.value_key]);
  const name = groupInWords(entity.value_key, nameIds);
  const reset = useMutation({
    mutationFn: () =>
      resetUsageLimitEntity({ path: { ref: limit.id, entity_id: entity.id }, body: {}, throwOnError: true }),
  });
  return (
    <Confirm title={`Reset ${name}`} action="Reset" onConfirm={() => reset.mutateAsync()} onClose={onClose}>
      <p>
        {amount(entity.current_usage, limit.type)} of {quantity(entity.credit_limit, limit.type)} are used. After the
        reset this group may use the whole limit once more.
      </p>
    </Confirm>
  );
}

function columns(
  limit: UsageLimit,
  nameOf: (entity: UsageEntity) => string,
  onReset?: (entity: UsageEntity) => void,
): readonly Column<UsageEntity>[] {
  return [
    {
      title: 'Group',
      cell: (entity) => (
        <span title={entity.value_key} className="font-medium">
          {nameOf(entity)}
        </span>
      ),
    },
    {
      title: 'Use',
      cell: (entity) => (
        <div className="flex h-5 items-center">
          <Meter
            label={`Used by ${nameOf(entity)}`}
            used={entity.current_usage}
            reserved={entity.reserved}
            limit={entity.credit_limit}
          />
        </div>
      ),
    },
    { title: 'Used', align: 'right', cell: (entity) => quantity(entity.current_usage, limit.type) },
    { title: 'Reserved', align: 'right', isExtra: true, cell: (entity) => amount(entity.reserved, limit.type) },
    {
      title: 'State',
      cell: ({ status, current_usage, credit_limit }) => {
        const isUsedUp = current_usage >= credit_limit;
        if (limit.enforcement === 'monitor' && (isUsedUp || status === 'exhausted')) {
          return <Badge tone="warn">exceeded</Badge>;
        }
        if (isUsedUp) return <Badge tone="bad">used up</Badge>;
        // Smaller calls may still fit.
        if (status === 'exhausted') return <Badge tone="bad">refused a call</Badge>;
        return <Badge tone="good">open</Badge>;
      },
    },
    {
      title: 'Resets',
      kind: 'short',
      isExtra: true,
      cell: ({ next_reset_at }) => <When at={next_reset_at} />,
    },
    ...(onReset === undefined
      ? []
      : [
          {
            title: 'Actions',
            cell: (entity: UsageEntity) => (
              <Button size="small" onClick={() => onReset(entity)} aria-label={`Reset ${nameOf(entity)}`}>
                Reset
              </Button>
            ),
          },
        ]),
  ];
}
