import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { listMcpServersOptions } from '../api/@tanstack/react-query.gen';
import { testMcpServer } from '../api/sdk.gen';
import type { McpServer } from '../api/types.gen';
import { LastCall } from '../components/last-call';
import { Page, SearchBox } from '../components/page';
import { type Column, Table } from '../components/table';
import { Badge } from '../components/ui/badge';
import { Button, SendButton } from '../components/ui/button';
import { Card } from '../components/ui/card';
import { Url } from '../components/url';
import { counted } from '../lib/format';
import { useListSearch } from '../lib/list-search';
import { useLogin } from '../lib/login-context';
import { refreshEvery } from '../lib/reach';
import { McpServerForm } from './mcp-server-form';

const REFRESH_MS = 5_000;

export function McpPage() {
  const { may } = useLogin();
  const list = useListSearch();
  const [isCreating, setCreating] = useState(false);
  const servers = useQuery({
    ...listMcpServersOptions({ query: list.paging }),
    refetchInterval: refreshEvery(REFRESH_MS),
    placeholderData: (previous) => previous,
  });
  return (
    <Page
      title="MCP servers"
      intro="Servers that clients reach through the gateway, which says who the user is."
      actions={
        may('mcp_servers.create') && (
          <Button kind="main" onClick={() => setCreating(true)}>
            <Plus aria-hidden className="size-4" />
            New server
          </Button>
        )
      }
    >
      <SearchBox value={list.search ?? ''} onSearch={list.onSearch} />
      <Card>
        <Table
          caption="MCP servers"
          columns={columns(may('mcp_servers.read'))}
          query={servers}
          keyOf={({ id }) => id}
          empty="No MCP server here. Clients reach a server through the gateway once it is made."
          page={list.page}
          onPage={list.onPage}
          csv={{ path: '/v1/mcp-servers', query: { search: list.search } }}
        />
      </Card>
      {isCreating && <McpServerForm onClose={() => setCreating(false)} />}
    </Page>
  );
}

function columns(mayRead: boolean): readonly Column<McpServer>[] {
  return [
    {
      title: 'Server',
      cell: ({ id, name, mcp_url: url }) => (
        <>
          <Link to="/mcp/$ref" params={{ ref: id }} className="font-medium text-accent hover:underline">
            {name}
          </Link>
          <p>
            <Url url={url} className="text-muted" />
          </p>
        </>
      ),
    },
    {
      title: 'Behind it',
      kind: 'name',
      isExtra: 'wide',
      cell: ({ url }) => <Url url={url} />,
    },
    {
      title: 'Identity',
      cell: ({ user_identity_forwarding: forwarding }) =>
        forwarding?.method ?? <span className="text-muted">none</span>,
    },
    { title: 'State', cell: ({ enabled }) => (enabled ? <Badge tone="good">enabled</Badge> : <Badge>off</Badge>) },
    ...(mayRead
      ? [{ title: 'Last call', kind: 'name' as const, cell: (server: McpServer) => <LastCall server={server} /> }]
      : []),
    { title: 'Test', cell: (server) => (mayRead ? <Test server={server} /> : null) },
  ];
}

function Test({ server: { id, name } }: { readonly server: McpServer }) {
  const test = useMutation({
    mutationFn: async () => (await testMcpServer({ path: { ref: id }, body: {}, throwOnError: true })).data,
  });
  const problem = test.error?.message ?? (test.data?.ok === false ? (test.data.reason ?? test.data.error) : undefined);
  return (
    <div className="space-y-1">
      <SendButton size="small" aria-label={`Test ${name}`} sent={test} onSend={() => test.mutate()}>
        {test.isPending ? 'Testing…' : 'Test'}
      </SendButton>
      <div role="status" className="max-w-72 text-xs wrap-anywhere">
        {test.data?.ok === true && <span className="text-good">works, {counted(test.data.tools ?? 0, 'tool')}</span>}
        {problem !== undefined && <span className="text-bad">{problem}</span>}
      </div>
    </div>
  );
}
