import { useMutation, useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { listWebhookDeliveriesOptions, listWebhooksOptions } from '../api/@tanstack/react-query.gen';
import { deleteWebhook, redeliverWebhook, testWebhook } from '../api/sdk.gen';
import type { WebhookDelivery, WebhookEndpoint } from '../api/types.gen';
import { Confirm } from '../components/confirm';
import { SearchBox } from '../components/page';
import { RowActions } from '../components/row-actions';
import { ErrorNote } from '../components/states';
import { type Column, PAGE_SIZE, Table } from '../components/table';
import { Badge, type Tone } from '../components/ui/badge';
import { Button } from '../components/ui/button';
import { Card } from '../components/ui/card';
import { Dialog } from '../components/ui/dialog';
import { When } from '../components/when';
import { counted } from '../lib/format';
import { useListSearch } from '../lib/list-search';
import { useLogin } from '../lib/login-context';
import { WebhookForm } from './webhook-form';
import { RotateWebhook } from './webhook-secret';

const REFRESH_MS = 5_000;
type Act =
  | { readonly kind: 'create' }
  | { readonly kind: 'change' | 'deliveries' | 'rotate' | 'delete'; readonly endpoint: WebhookEndpoint };

/** Where events are sent, and what became of each. */
export function Webhooks() {
  const { may } = useLogin();
  const list = useListSearch();
  const [act, setAct] = useState<Act>();
  const close = (): void => setAct(undefined);
  const endpoints = useQuery({
    ...listWebhooksOptions({ query: list.paging }),
    placeholderData: (previous) => previous,
  });
  const columns: readonly Column<WebhookEndpoint>[] = [
    {
      title: 'Address',
      cell: ({ url, description }) => (
        <>
          <span className="font-mono text-xs wrap-anywhere">{url}</span>
          {description !== null && <p className="text-xs wrap-anywhere text-muted">{description}</p>}
        </>
      ),
    },
    { title: 'Events', isExtra: true, cell: ({ events }) => (events.includes('*') ? 'all' : events.join(', ')) },
    {
      title: 'State',
      cell: ({ enabled, disabled_reason: reason }) =>
        enabled ? <Badge tone="good">enabled</Badge> : <Badge tone="warn">off: {reason}</Badge>,
    },
    {
      title: 'Actions',
      kind: 'short',
      cell: (endpoint) => (
        <RowActions
          of={endpoint.url}
          actions={{
            Deliveries: may('webhooks.read') ? () => setAct({ kind: 'deliveries', endpoint }) : undefined,
            Change: may('webhooks.update') ? () => setAct({ kind: 'change', endpoint }) : undefined,
            Rotate: may('webhooks.update') ? () => setAct({ kind: 'rotate', endpoint }) : undefined,
            Delete: may('webhooks.delete') ? () => setAct({ kind: 'delete', endpoint }) : undefined,
          }}
        />
      ),
    },
  ];
  return (
    <>
      <SearchBox value={list.search ?? ''} onSearch={list.onSearch} />
      <Card
        title="Webhooks"
        side={
          may('webhooks.create') && (
            <Button size="small" onClick={() => setAct({ kind: 'create' })}>
              <Plus aria-hidden className="size-3.5" />
              New webhook
            </Button>
          )
        }
      >
        <Table
          caption="Webhooks"
          columns={columns}
          query={endpoints}
          keyOf={({ id }) => id}
          empty="No webhook here. Events such as a used-up limit can be sent to a server of yours."
          page={list.page}
          onPage={list.onPage}
          csv={{ path: '/v1/webhooks', query: { search: list.search } }}
        />
        {act?.kind === 'create' && <WebhookForm onClose={close} />}
        {act?.kind === 'change' && <WebhookForm endpoint={act.endpoint} onClose={close} />}
        {act?.kind === 'deliveries' && <Deliveries endpoint={act.endpoint} onClose={close} />}
        {act?.kind === 'rotate' && <RotateWebhook endpoint={act.endpoint} onClose={close} />}
        {act?.kind === 'delete' && <Delete endpoint={act.endpoint} onClose={close} />}
      </Card>
    </>
  );
}

const TONES: Readonly<Record<string, Tone>> = { succeeded: 'good', failed: 'bad', pending: 'plain' };

function Deliveries({ endpoint, onClose }: { readonly endpoint: WebhookEndpoint; readonly onClose: () => void }) {
  const { may } = useLogin();
  const [page, setPage] = useState(0);
  const options = listWebhookDeliveriesOptions({
    path: { id: endpoint.id },
    query: { current_page: page, page_size: PAGE_SIZE },
  });
  const deliveries = useQuery({ ...options, refetchInterval: REFRESH_MS, placeholderData: (previous) => previous });
  const send = useMutation({
    mutationFn: (deliveryId: string | undefined) =>
      deliveryId === undefined
        ? testWebhook({ path: { id: endpoint.id }, body: {}, throwOnError: true })
        : redeliverWebhook({ path: { id: endpoint.id, delivery_id: deliveryId }, body: {}, throwOnError: true }),
  });
  const columns: readonly Column<WebhookDelivery>[] = [
    {
      title: 'Event',
      cell: ({ event_type: type, last_attempt_at: at }) => (
        <>
          <span className="text-xs wrap-anywhere">{type}</span>
          <p className="text-xs text-muted">{at === null ? 'not tried yet' : <When at={at} />}</p>
        </>
      ),
    },
    {
      title: 'Outcome',
      cell: ({ status, attempts, last_status_code: code, last_error: error }) => (
        <>
          <Badge tone={TONES[status] ?? 'plain'}>{status}</Badge>
          <p className="text-xs text-muted">
            {[code, error, counted(attempts, 'attempt')].filter(Boolean).join(' · ')}
          </p>
        </>
      ),
    },
    {
      title: 'Actions',
      kind: 'short',
      cell: ({ id, event_type: type }) =>
        may('webhooks.update') && (
          <Button
            size="small"
            disabled={send.isPending}
            aria-label={`Send ${type} again`}
            onClick={() => send.mutate(id)}
          >
            Send again
          </Button>
        ),
    },
  ];
  return (
    <Dialog title="Deliveries" onClose={onClose}>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="min-w-0 font-mono text-xs wrap-anywhere">{endpoint.url}</p>
        {may('webhooks.update') && (
          <Button size="small" disabled={send.isPending} onClick={() => send.mutate(undefined)}>
            Send a test event
          </Button>
        )}
      </div>
      {send.isError && <ErrorNote error={send.error} />}
      <Table
        caption="Deliveries"
        columns={columns}
        query={deliveries}
        keyOf={({ id }) => id}
        empty="Nothing has been sent yet."
        page={page}
        onPage={setPage}
        csv={{ path: `/v1/webhooks/${endpoint.id}/deliveries` }}
      />
    </Dialog>
  );
}

function Delete({ endpoint, onClose }: { readonly endpoint: WebhookEndpoint; readonly onClose: () => void }) {
  const remove = async (): Promise<void> => {
    await deleteWebhook({ path: { id: endpoint.id }, throwOnError: true });
  };
  return (
    <Confirm title="Delete the webhook" action="Delete" onConfirm={remove} onClose={onClose}>
      <p className="wrap-anywhere">{endpoint.url} receives no more events. Deliveries that are waiting are dropped.</p>
    </Confirm>
  );
}
