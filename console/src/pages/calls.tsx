import { useQuery } from '@tanstack/react-query';
import { Fragment, useState } from 'react';
import { listLogs } from '../api/sdk.gen';
import type { ListLogsData, RequestLog } from '../api/types.gen';
import { ListTools } from '../components/list-tools';
import { Page, SearchBox } from '../components/page';
import { Id } from '../components/id';
import { ProviderChoice } from '../components/provider-choice';
import { type Column, Table } from '../components/table';
import { TimeChoice, timeFilter } from '../components/time-choice';
import { Badge } from '../components/ui/badge';
import { Button } from '../components/ui/button';
import { Card } from '../components/ui/card';
import { When } from '../components/when';
import { WorkspaceChoice } from '../components/workspace-choice';
import { dollars, whole } from '../lib/format';
import { useListSearch } from '../lib/list-search';
import { refreshEvery } from '../lib/reach';
import { CallDetails } from './call-details';
import { CALL_OUTCOMES } from './mcp-outcome';

const REFRESH_MS = 5_000;

/** What the filter is called, and what it asks the log for. A status alone does not say that a call succeeded. */
const FILTERS: Readonly<Record<string, readonly [string, Filter]>> = {
  ok: ['Succeeded', { outcome: 'ok' }],
  failed: ['Failed', { outcome: 'failed' }],
  refused: ['Status 4xx', { status_class: 4 }],
  broken: ['Status 5xx', { status_class: 5 }],
};
type Filter = Pick<NonNullable<ListLogsData['query']>, 'outcome' | 'status_class'>;

const CHOICES = {
  '': 'All calls',
  ...Object.fromEntries(Object.entries(FILTERS).map(([key, [words]]) => [key, words])),
};

/** Calls of any kind, as they end. */
export function CallsPage() {
  const list = useListSearch();
  const [shown, setShown] = useState<RequestLog>();
  const { provider, model, time, from, to } = list;
  const filters = {
    ...FILTERS[list.status ?? '']?.[1],
    ...(list.workspace !== undefined && { workspace_id: list.workspace }),
    ...(provider !== undefined && { provider }),
    ...(model !== undefined && { model }),
  };
  const query = { ...list.logPaging, ...filters };
  const calls = useQuery({
    // The last hour moves on while the list stays the same.
    queryKey: ['calls', query, { time, from, to }],
    queryFn: async ({ signal }) =>
      (await listLogs({ query: { ...query, ...timeFilter(list) }, signal, throwOnError: true })).data,
    refetchInterval: refreshEvery(REFRESH_MS),
    placeholderData: (previous) => previous,
  });
  return (
    <Page
      title="Calls"
      intro="Calls of models, jobs and MCP servers, newest first. Prompts and answers are kept where the workspace wants it."
    >
      <ListTools list={list} label="Status" value={list.status ?? ''} options={CHOICES}>
        <TimeChoice list={list} />
        <WorkspaceChoice list={list} />
        <ProviderChoice list={list} />
        <SearchBox label="Model name" value={model ?? ''} onSearch={list.onModel} />
      </ListTools>
      <Card>
        <Table
          caption="Calls"
          columns={[...COLUMNS, detailsColumn(setShown)]}
          query={calls}
          keyOf={({ id }) => id}
          empty="No call here. A call appears about a second after its end."
          after={list.after}
          onAfter={list.onAfter}
          csv={{ path: '/v1/logs', query: { search: list.search, ...filters, ...timeFilter(list) } }}
        />
      </Card>
      {shown !== undefined && <CallDetails call={shown} onClose={() => setShown(undefined)} />}
    </Page>
  );
}

const COLUMNS: readonly Column<RequestLog>[] = [
  {
    title: 'Time',
    kind: 'short',
    cell: ({ created_at }) => <When at={created_at} />,
  },
  {
    title: 'Call',
    kind: 'name',
    cell: ({ route, model, mcp_server, mcp_method }) => (
      <>
        <span className="font-medium wrap-anywhere">{model ?? mcp_server ?? route}</span>
        <p className="font-mono text-xs wrap-anywhere text-muted">{mcp_method ?? route}</p>
      </>
    ),
  },
  {
    title: 'By',
    isExtra: true,
    cell: ({ user_id, actor_id, session }) => (
      <>
        <Id id={user_id ?? actor_id} />
        {session !== null && <p className="text-xs wrap-anywhere text-muted">session {session}</p>}
      </>
    ),
  },
  {
    title: 'Status',
    cell: ({ status, error_code, outcome }) => {
      const [tone, words] = CALL_OUTCOMES[outcome];
      return (
        <>
          <Badge tone={tone}>{status}</Badge>
          {outcome !== 'ok' && (
            <p className="mt-0.5 text-xs text-muted">{error_code === null ? words : <ErrorCode code={error_code} />}</p>
          )}
        </>
      );
    },
  },
  { title: 'Tokens', align: 'right', isExtra: 'wide', cell: ({ tokens }) => (tokens === null ? '–' : whole(tokens)) },
  { title: 'Cost', align: 'right', cell: ({ cost }) => (cost === null ? '–' : dollars(cost)) },
  { title: 'Took', kind: 'short', align: 'right', cell: ({ duration_ms }) => `${whole(duration_ms)} ms` },
];

/** A line break is allowed after each part of the code, and copying still gives the code as it is. */
function ErrorCode({ code }: { readonly code: string }) {
  return code.split(/(?<=_)/).map((part) => (
    <Fragment key={part}>
      {part}
      <wbr />
    </Fragment>
  ));
}

function detailsColumn(onShow: (call: RequestLog) => void): Column<RequestLog> {
  return {
    title: 'Details',
    cell: (call) => (
      <Button size="small" aria-label={`Show ${call.trace_id}`} onClick={() => onShow(call)}>
        Show
      </Button>
    ),
  };
}
