import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { listWebhooksOptions } from '../api/@tanstack/react-query.gen';
import { deleteWebhook } from '../api/sdk.gen';
import type { WebhookEndpoint } from '../api/types.gen';
import { Confirm } from '../components/confirm';
import { SearchBox } from '../components/page';
import { RowActions } from '../components/row-actions';
import { type Column, Table } from '../components/table';
import { Badge } from '../components/ui/badge';
import { Button, buttonLook } from '../components/ui/button';
import { Card } from '../components/ui/card';
import { Url } from '../components/url';
import { useListSearch } from '../lib/list-search';
import { useLogin } from '../lib/login-context';
import { WebhookForm } from './webhook-form';
import { RotateWebhook } from './webhook-secret';

type Act =
  { readonly kind: 'create' } | { readonly kind: 'change' | 'rotate' | 'delete'; readonly endpoint: WebhookEndpoint };

/** The webhooks: where events are sent. */
export function Webhooks() {
  const { may } = useLogin();
  const list = useListSearch();
  const [act, setAct] = useState<Act>();
  const close = (): void => setAct(undefined);
  const endpoints = useQuery({
    ...listWebhooksOptions({ query: list.paging }),
    placeholderData: (previous) => previous,
  });
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
          columns={columns(may, setAct)}
          query={endpoints}
          keyOf={({ id }) => id}
          empty="No webhook here. Events such as a used-up limit can be sent to a server of yours."
          page={list.page}
          onPage={list.onPage}
          csv={{ path: '/v1/webhooks', query: { search: list.search } }}
        />
        {act?.kind === 'create' && <WebhookForm onClose={close} />}
        {act?.kind === 'change' && <WebhookForm endpoint={act.endpoint} onClose={close} />}
        {act?.kind === 'rotate' && <RotateWebhook endpoint={act.endpoint} onClose={close} />}
        {act?.kind === 'delete' && <Delete endpoint={act.endpoint} onClose={close} />}
      </Card>
    </>
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

function columns(
  may: ReturnType<typeof useLogin>['may'],
  onAct: (act: Act) => void,
): readonly Column<WebhookEndpoint>[] {
  return [
    {
      title: 'Address',
      cell: ({ url, description }) => (
        <>
          <Url url={url} />
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
          first={
            may('webhooks.read') && (
              <Link
                to="/settings/webhooks/$id"
                params={{ id: endpoint.id }}
                className={buttonLook({ size: 'small' })}
                aria-label={`Deliveries ${endpoint.url}`}
              >
                Deliveries
              </Link>
            )
          }
          actions={{
            Change: may('webhooks.update') ? () => onAct({ kind: 'change', endpoint }) : undefined,
            Rotate: may('webhooks.update') ? () => onAct({ kind: 'rotate', endpoint }) : undefined,
            Delete: may('webhooks.delete') ? () => onAct({ kind: 'delete', endpoint }) : undefined,
          }}
        />
      ),
    },
  ];
}
