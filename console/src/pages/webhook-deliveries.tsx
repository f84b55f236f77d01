import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { listWebhookDeliveriesOptions, retrieveWebhookOptions } from '../api/@tanstack/react-query.gen';
import { redeliverWebhook, testWebhook } from '../api/sdk.gen';
import type { WebhookDelivery } from '../api/types.gen';
import { Choose, ListTools } from '../components/list-tools';
import { Page } from '../components/page';
import { ErrorNote, Loading } from '../components/states';
import { type Column, Table } from '../components/table';
import { Badge, type Tone } from '../components/ui/badge';
import { SendButton } from '../components/ui/button';
import { Card } from '../components/ui/card';
import { Url } from '../components/url';
import { When } from '../components/when';
import { counted, dateTime } from '../lib/format';
import { useListSearch } from '../lib/list-search';
import { useLogin } from '../lib/login-context';
import type { Sent } from '../lib/once';
import { refreshEvery } from '../lib/reach';
import { DELIVERED } from '../lib/webhook-events';

const REFRESH_MS = 5_000;
const TONES: Readonly<Record<Status, Tone>> = { succeeded: 'good', failed: 'bad', pending: 'plain' };
const STATUSES = { '': 'All results', succeeded: 'Succeeded', failed: 'Failed', pending: 'Pending' } as const;
const EVENTS = { '': 'All events', ...DELIVERED } as const;

type Status = Exclude<keyof typeof STATUSES, ''>;

/** What was sent to one webhook, and what came of it. */
export function WebhookDeliveriesPage() {
  const { id = '' } = useParams({ strict: false });
  const { may } = useLogin();
  const endpoint = useQuery(retrieveWebhookOptions({ path: { id } }));
  const send = useMutation({
    mutationFn: (deliveryId: string | undefined) =>
      deliveryId === undefined
        ? testWebhook({ path: { id }, body: {}, throwOnError: true })
        : redeliverWebhook({ path: { id, delivery_id: deliveryId }, body: {}, throwOnError: true }),
    meta: { done: 'The event is being sent.' },
  });
  if (endpoint.isPending) return <Loading />;
  if (endpoint.isLoadingError) {
    return (
      <Page title="Deliveries">
        <ErrorNote error={endpoint.error} onRetry={() => void endpoint.refetch()} />
      </Page>
    );
  }
  const { url, description } = endpoint.data;
  return (
    <Page
      title="Deliveries"
      intro={
        <>
          <Url url={url} />
          {description !== null && ` · ${description}`} ·{' '}
          <Link to="/settings" search={{ view: 'webhooks' }} className="text-accent underline">
            all webhooks
          </Link>
        </>
      }
      actions={
        may('webhooks.update') && (
          <SendButton kind="main" sent={send} onSend={() => send.mutate(undefined)}>
            Send a test event
          </SendButton>
        )
      }
    >
      {send.isError && <ErrorNote error={send.error} />}
      <Deliveries
        id={id}
        onSend={may('webhooks.update') ? (delivery) => send.mutate(delivery.id) : undefined}
        sent={send}
      />
    </Page>
  );
}

interface DeliveriesProps {
  readonly id: string;
  readonly onSend: ((delivery: WebhookDelivery) => void) | undefined;
  readonly sent: Sent;
}

function Deliveries({ id, onSend, sent }: DeliveriesProps) {
  const list = useListSearch();
  const status = isOneOf(STATUSES, list.status) && list.status !== '' ? list.status : undefined;
  const event = isOneOf(EVENTS, list.kind) && list.kind !== '' ? list.kind : undefined;
  const deliveries = useQuery({
    ...listWebhookDeliveriesOptions({
      path: { id },
      query: { ...list.paging, ...(status && { status }), ...(event && { event }) },
    }),
    refetchInterval: refreshEvery(REFRESH_MS),
    placeholderData: (previous) => previous,
  });
  const again: Column<WebhookDelivery> = {
    title: 'Actions',
    kind: 'short',
    cell: (delivery) => (
      <SendButton
        size="small"
        sent={sent}
        aria-label={`Send again: ${delivery.event_type} of ${dateTime(delivery.created_at)}`}
        onSend={() => onSend?.(delivery)}
      >
        Send again
      </SendButton>
    ),
  };
  return (
    <>
      <ListTools list={list} label="Result" value={status ?? ''} options={STATUSES}>
        <Choose label="Event" value={event ?? ''} options={EVENTS} onChoose={list.onKind} />
      </ListTools>
      <Card>
        <Table
          caption="Deliveries"
          columns={onSend === undefined ? COLUMNS : [...COLUMNS, again]}
          query={deliveries}
          keyOf={({ id: key }) => key}
          empty="No delivery here."
          page={list.page}
          onPage={list.onPage}
          csv={{ path: `/v1/webhooks/${id}/deliveries`, query: { search: list.search, status, event } }}
        />
      </Card>
    </>
  );
}

const COLUMNS: readonly Column<WebhookDelivery>[] = [
  {
    title: 'Event',
    cell: ({ event_type: type, event_id: id }) => (
      <>
        {isOneOf(DELIVERED, type) ? DELIVERED[type] : type}
        <p className="font-mono text-xs wrap-anywhere text-muted">
          {type} · {id}
        </p>
      </>
    ),
  },
  { title: 'Made', kind: 'short', cell: ({ created_at: at }) => <When at={at} /> },
  {
    title: 'Result',
    cell: ({ status, last_status_code: code, last_error: error }) => (
      <>
        <Badge tone={isOneOf(TONES, status) ? TONES[status] : 'plain'}>{status}</Badge>
        <p className="mt-0.5 text-xs text-muted">{[code, error].filter(Boolean).join(' · ')}</p>
      </>
    ),
  },
  {
    title: 'Tried',
    kind: 'short',
    cell: ({ attempts, last_attempt_at: at, next_attempt_at: next, status }) => (
      <>
        {at === null ? 'not yet' : <When at={at} />}
        <p className="text-xs text-muted">
          {counted(attempts, 'attempt')}
          {status === 'pending' && next !== null && (
            <>
              , next <When at={next} />
            </>
          )}
        </p>
      </>
    ),
  },
];

function isOneOf<Words extends object>(words: Words, text: string | undefined): text is string & keyof Words {
  return text !== undefined && text in words;
}
