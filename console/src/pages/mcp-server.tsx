import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { listMcpServerCallsOptions, retrieveMcpServerOptions } from '../api/@tanstack/react-query.gen';
import type { McpCall, McpServer } from '../api/types.gen';
import { LastCall } from '../components/last-call';
import { Page, SearchBox } from '../components/page';
import { ErrorNote, Loading } from '../components/states';
import { ListChoice } from '../components/list-tools';
import { Id } from '../components/id';
import { type Column, Table } from '../components/table';
import { Badge } from '../components/ui/badge';
import { Button } from '../components/ui/button';
import { Card } from '../components/ui/card';
import { Url } from '../components/url';
import { When } from '../components/when';
import { useListSearch } from '../lib/list-search';
import { useLogin } from '../lib/login-context';
import { refreshEvery } from '../lib/reach';
import { DeleteMcpServer } from './delete-mcp-server';
import { HeadersPreview } from './headers-preview';
import { OUTCOMES } from './mcp-outcome';
import { McpServerForm } from './mcp-server-form';
import { McpTools } from './mcp-tools';

const REFRESH_MS = 5_000;

const CHOICES = {
  '': 'All outcomes',
  ...Object.fromEntries(Object.entries(OUTCOMES).map(([key, [, words]]) => [key, words])),
};

/** One MCP server: its tools, and what was called. */
export function McpServerPage() {
  const { ref = '' } = useParams({ strict: false });
  const server = useQuery({
    ...retrieveMcpServerOptions({ path: { ref } }),
    refetchInterval: refreshEvery(REFRESH_MS),
  });
  if (server.isPending) return <Loading />;
  if (server.isLoadingError) {
    return (
      <Page title="MCP server">
        <ErrorNote error={server.error} onRetry={() => void server.refetch()} />
      </Page>
    );
  }
  const { name, mcp_url: url } = server.data;
  return (
    <Page
      title={name}
      intro={
        <>
          <Url url={url} className="block" />
          Last call: <LastCall server={server.data} />
        </>
      }
      actions={<Actions server={server.data} />}
    >
      <McpTools serverId={ref} />
      <Calls serverId={ref} />
      <HeadersPreview serverId={ref} />
    </Page>
  );
}

function Actions({ server }: { readonly server: McpServer }) {
  const { may } = useLogin();
  const navigate = useNavigate();
  const [open, setOpen] = useState<'change' | 'delete'>();
  const close = (): void => setOpen(undefined);
  return (
    <div className="flex gap-2">
      {may('mcp_servers.update') && (
        <Button onClick={() => setOpen('change')}>
          <Pencil aria-hidden className="size-4" />
          Change
        </Button>
      )}
      {may('mcp_servers.delete') && (
        <Button kind="danger" onClick={() => setOpen('delete')}>
          <Trash2 aria-hidden className="size-4" />
          Delete
        </Button>
      )}
      {open === 'change' && <McpServerForm server={server} onClose={close} />}
      {open === 'delete' && (
        <DeleteMcpServer server={server} onClose={close} onDeleted={() => void navigate({ to: '/mcp' })} />
      )}
    </div>
  );
}

function Calls({ serverId }: { readonly serverId: string }) {
  const list = useListSearch();
  const outcome = isOutcome(list.status) ? list.status : undefined;
  const calls = useQuery({
    ...listMcpServerCallsOptions({
      path: { ref: serverId },
      query: { ...list.logPaging, ...(outcome && { outcome }) },
    }),
    refetchInterval: refreshEvery(REFRESH_MS),
    placeholderData: (previous) => previous,
  });
  return (
    <Card
      title="Calls"
      side={
        <div className="flex flex-wrap gap-2 max-sm:w-full">
          <SearchBox label="Search calls" value={list.search ?? ''} onSearch={list.onSearch} />
          <ListChoice list={list} label="Outcome" value={outcome ?? ''} options={CHOICES} />
        </div>
      }
    >
      <Table
        caption="Calls"
        columns={CALL_COLUMNS}
        query={calls}
        keyOf={({ id }) => id}
        empty={list.search === undefined && outcome === undefined ? 'No call yet.' : 'No such call.'}
        after={list.after}
        onAfter={list.onAfter}
        csv={{ path: `/v1/mcp-servers/${serverId}/calls`, query: { search: list.search, outcome } }}
      />
    </Card>
  );
}

const CALL_COLUMNS: readonly Column<McpCall>[] = [
  {
    title: 'Time',
    kind: 'short',
    cell: ({ created_at }) => <When at={created_at} />,
  },
  {
    title: 'Call',
    kind: 'name',
    cell: ({ tool, rpc_method, http_method }) => (
      <>
        <span className="font-medium">{tool ?? rpc_method ?? http_method}</span>
        {tool !== null && <p className="text-xs text-muted">{rpc_method}</p>}
      </>
    ),
  },
  { title: 'User', cell: ({ user_id, caller_id }) => <Id id={user_id ?? caller_id} /> },
  {
    title: 'Outcome',
    cell: ({ outcome, error_code, rpc_error_code }) => {
      const [tone, word] = OUTCOMES[outcome];
      return (
        <>
          <Badge tone={tone}>{word}</Badge>
          {(error_code ?? rpc_error_code) !== null && (
            <p className="text-xs text-muted">{error_code ?? rpc_error_code}</p>
          )}
        </>
      );
    },
  },
  { title: 'Took', kind: 'short', align: 'right', cell: ({ total_ms }) => `${Math.round(total_ms)} ms` },
  {
    title: 'Trace',
    isExtra: 'wide',
    cell: ({ trace_id }) =>
      trace_id !== null && (
        <Link to="/calls" search={{ search: trace_id }} aria-label={`Trace ${trace_id}`}>
          <Id id={trace_id} isLink />
        </Link>
      ),
  },
];

function isOutcome(text: string | undefined): text is McpCall['outcome'] {
  return text !== undefined && text in OUTCOMES;
}
