import { useQuery } from '@tanstack/react-query';
import { Fragment, useState } from 'react';
import { listLogsOptions } from '../api/@tanstack/react-query.gen';
import type { RequestLog } from '../api/types.gen';
import { ListTools } from '../components/list-tools';
import { Page } from '../components/page';
import { Id } from '../components/id';
import { type Column, Table } from '../components/table';
import { Badge, type Tone } from '../components/ui/badge';
import { Button } from '../components/ui/button';
import { Card } from '../components/ui/card';
import { When } from '../components/when';
import { dollars, whole } from '../lib/format';
import { useListSearch } from '../lib/list-search';
import { CallDetails } from './call-details';

const REFRESH_MS = 5_000;

/** What the filter is called, and the class of status codes that it stands for. */
const CLASSES: Readonly<Record<string, readonly [string, number]>> = {
  ok: ['Succeeded', 2],
  refused: ['Refused (4xx)', 4],
  failed: ['Failed (5xx)', 5],
};

const CHOICES = {
  '': 'All calls',
  ...Object.fromEntries(Object.entries(CLASSES).map(([key, [words]]) => [key, words])),
};

/** Calls of any kind, as they end. */
export function CallsPage() {
  const list = useListSearch();
  const [shown, setShown] = useState<RequestLog>();
  const [, statusClass] = CLASSES[list.status ?? ''] ?? [];
  const calls = useQuery({
    ...listLogsOptions({
      query: { ...list.logPaging, ...(statusClass !== undefined && { status_class: statusClass }) },
    }),
    refetchInterval: REFRESH_MS,
    placeholderData: (previous) => previous,
  });
  return (
    <Page
      title="Calls"
      intro="Calls of models, jobs and MCP servers, newest first. Prompts and answers are kept where the workspace wants it."
    >
      <ListTools list={list} label="Status" value={list.status ?? ''} options={CHOICES} />
      <Card>
        <Table
          caption="Calls"
          columns={[...COLUMNS, detailsColumn(setShown)]}
          query={calls}
          keyOf={({ id }) => id}
          empty="No call here. A call appears about a second after its end."
          after={list.after}
          onAfter={list.onAfter}
          csv={{ path: '/v1/logs', query: { search: list.search, status_class: statusClass } }}
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
    cell: ({ status, error_code, mcp_method }) => (
      <>
        <Badge tone={toneOf(status, mcp_method)}>{status}</Badge>
        {error_code !== null && (
          <p className="mt-0.5 text-xs text-muted">
            <ErrorCode code={error_code} />
          </p>
        )}
      </>
    ),
  },
  { title: 'Tokens', align: 'right', isExtra: 'wide', cell: ({ tokens }) => (tokens === null ? '–' : whole(tokens)) },
  { title: 'Cost', align: 'right', cell: ({ cost }) => (cost === null ? '–' : dollars(cost)) },
  { title: 'Took', kind: 'short', align: 'right', cell: ({ duration_ms }) => `${whole(duration_ms)} ms` },
];

/** May break after its parts, and is still copied as it is. */
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

/** A tool that fails has the status 200: its outcome is among the details. */
function toneOf(status: number, mcpMethod: string | null): Tone {
  if (status >= 500) return 'bad';
  if (status >= 400) return 'warn';
  return mcpMethod === 'tools/call' ? 'plain' : 'good';
}
