import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { listWebhookDeliveriesOptions, listWebhooksOptions } from '../api/@tanstack/react-query.gen';
import { createWebhook, deleteWebhook, redeliverWebhook, testWebhook } from '../api/sdk.gen';
import type { WebhookDelivery, WebhookEndpoint } from '../api/types.gen';
import { Confirm } from '../components/confirm';
import { Copyable } from '../components/copy';
import { ErrorNote } from '../components/states';
import { type Column, PAGE_SIZE, Table } from '../components/table';
import { Badge, type Tone } from '../components/ui/badge';
import { Button } from '../components/ui/button';
import { Card } from '../components/ui/card';
import { Dialog } from '../components/ui/dialog';
import { Field, Input } from '../components/ui/field';
import { inWorkspace, WorkspaceField } from '../components/workspace-field';
import { dateTime, fromNow } from '../lib/format';
import { useLogin } from '../lib/login-context';

const REFRESH_MS = 5_000;
type Act = { readonly kind: 'deliveries' | 'delete'; readonly endpoint: WebhookEndpoint };

/** Where events are sent, and what became of each. */
export function Webhooks() {
  const { may } = useLogin();
  const [page, setPage] = useState(0);
  const [act, setAct] = useState<Act>();
  const endpoints = useQuery(listWebhooksOptions({ query: { current_page: page, page_size: PAGE_SIZE } }));
  const columns: readonly Column<WebhookEndpoint>[] = [
    { title: 'Address', cell: ({ url }) => <span className="font-mono text-xs wrap-anywhere">{url}</span> },
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
        <div className="flex flex-wrap gap-1 md:flex-nowrap">
          {may('webhooks.read') && (
            <Button
              size="small"
              aria-label={`Deliveries of ${endpoint.url}`}
              onClick={() => setAct({ kind: 'deliveries', endpoint })}
            >
              Deliveries
            </Button>
          )}
          {may('webhooks.delete') && (
            <Button
              size="small"
              aria-label={`Delete ${endpoint.url}`}
              onClick={() => setAct({ kind: 'delete', endpoint })}
            >
              Delete
            </Button>
          )}
        </div>
      ),
    },
  ];
  return (
    <Card title="Webhooks">
      <Table
        caption="Webhooks"
        columns={columns}
        query={endpoints}
        keyOf={({ id }) => id}
        empty="No webhook. Events such as a used-up limit can be sent to a server of yours."
        page={page}
        onPage={setPage}
      />
      {may('webhooks.create') && <NewWebhook />}
      {act?.kind === 'deliveries' && <Deliveries endpoint={act.endpoint} onClose={() => setAct(undefined)} />}
      {act?.kind === 'delete' && <Delete endpoint={act.endpoint} onClose={() => setAct(undefined)} />}
    </Card>
  );
}

function NewWebhook() {
  const queries = useQueryClient();
  const form = useForm({ defaultValues: { url: '', workspace: '' } });
  const created = useMutation({
    mutationFn: async ({ url, workspace }: { readonly url: string; readonly workspace: string }) => {
      const body = { url: url.trim(), events: ['*' as const], ...inWorkspace(workspace) };
      return (await createWebhook({ body, throwOnError: true })).data;
    },
    onSuccess: async () => {
      form.reset();
      await queries.invalidateQueries();
    },
  });
  return (
    <form
      className="space-y-3 border-t border-line p-4"
      onSubmit={(event) => void form.handleSubmit((values) => created.mutate(values))(event)}
    >
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="Address of the new webhook">
          {(tie) => (
            <Input {...tie} {...form.register('url')} placeholder="https://example.com/hook" type="url" required />
          )}
        </Field>
        <WorkspaceField input={form.register('workspace')} shared="Events of all workspaces" />
      </div>
      <Button type="submit" disabled={created.isPending}>
        Add webhook for all events
      </Button>
      {created.isError && <ErrorNote error={created.error} />}
      {created.isSuccess && (
        <>
          <p className="text-warn">Copy the secret that signs the deliveries now: it is not shown again.</p>
          <Copyable label="Secret of the webhook" text={created.data.secret} />
        </>
      )}
    </form>
  );
}

const TONES: Readonly<Record<string, Tone>> = { succeeded: 'good', failed: 'bad', pending: 'plain' };

function Deliveries({ endpoint, onClose }: { readonly endpoint: WebhookEndpoint; readonly onClose: () => void }) {
  const { may } = useLogin();
  const queries = useQueryClient();
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
    onSettled: () => queries.invalidateQueries({ queryKey: options.queryKey }),
  });
  const columns: readonly Column<WebhookDelivery>[] = [
    {
      title: 'Event',
      cell: ({ event_type: type, last_attempt_at: at }) => (
        <>
          <span className="text-xs wrap-anywhere">{type}</span>
          <p className="text-xs text-muted" title={dateTime(at)}>
            {at === null ? 'not tried yet' : fromNow(at)}
          </p>
        </>
      ),
    },
    {
      title: 'Outcome',
      cell: ({ status, attempts, last_status_code: code, last_error: error }) => (
        <>
          <Badge tone={TONES[status] ?? 'plain'}>{status}</Badge>
          <p className="text-xs text-muted">
            {[code, error, `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`].filter(Boolean).join(' · ')}
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
      />
    </Dialog>
  );
}

function Delete({ endpoint, onClose }: { readonly endpoint: WebhookEndpoint; readonly onClose: () => void }) {
  const queries = useQueryClient();
  const remove = async (): Promise<void> => {
    await deleteWebhook({ path: { id: endpoint.id }, throwOnError: true });
    await queries.invalidateQueries();
  };
  return (
    <Confirm title="Delete the webhook" action="Delete" onConfirm={remove} onClose={onClose}>
      <p className="wrap-anywhere">{endpoint.url} receives no more events. Deliveries that are waiting are dropped.</p>
    </Confirm>
  );
}
