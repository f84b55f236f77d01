import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import {
  listMcpServerCallsOptions,
  listMcpServerToolsOptions,
  retrieveMcpServerOptions,
} from '../api/@tanstack/react-query.gen';
import { updateMcpServerTools } from '../api/sdk.gen';
import type { McpCall, McpServerTool } from '../api/types.gen';
import { Page } from '../components/page';
import { Empty, ErrorNote, Loading } from '../components/states';
import { ListChoice } from '../components/list-tools';
import { type Column, Table } from '../components/table';
import { Badge, type Tone } from '../components/ui/badge';
import { Card } from '../components/ui/card';
import { dateTime, fromNow } from '../lib/format';
import { useListSearch } from '../lib/list-search';
import { useLogin } from '../lib/login-context';
import { HeadersPreview } from './headers-preview';

const REFRESH_MS = 5_000;
const MAX_TOOLS = 100;

const OUTCOMES: Readonly<Record<McpCall['outcome'], readonly [Tone, string]>> = {
  ok: ['good', 'ok'],
  tool_error: ['bad', 'tool failed'],
  rpc_error: ['bad', 'server refused'],
  gateway_error: ['warn', 'gateway refused'],
  unknown: ['plain', 'answer not seen'],
};
const CHOICES = {
  '': 'All outcomes',
  ...Object.fromEntries(Object.entries(OUTCOMES).map(([key, [, words]]) => [key, words])),
};

/** One MCP server: its tools, and what was called. */
export function McpServerPage() {
  const { ref = '' } = useParams({ strict: false });
  const { may } = useLogin();
  const server = useQuery(retrieveMcpServerOptions({ path: { ref } }));
  if (server.isPending) return <Loading />;
  if (server.isLoadingError) return <ErrorNote error={server.error} onRetry={() => void server.refetch()} />;
  const { name, mcp_url: url } = server.data;
  return (
    <Page title={name} intro={<span className="font-mono text-xs break-all">{url}</span>}>
      <Calls serverId={ref} />
      <HeadersPreview serverId={ref} />
      <Tools serverId={ref} mayChange={may('mcp_servers.update')} />
    </Page>
  );
}

function Calls({ serverId }: { readonly serverId: string }) {
  const list = useListSearch();
  const outcome = isOutcome(list.status) ? list.status : undefined;
  const calls = useQuery({
    ...listMcpServerCallsOptions({
      path: { ref: serverId },
      query: { ...list.paging, ...(outcome && { outcome }) },
    }),
    refetchInterval: REFRESH_MS,
    placeholderData: (previous) => previous,
  });
  return (
    <Card title="Calls" side={<ListChoice list={list} label="Outcome" value={outcome ?? ''} options={CHOICES} />}>
      <Table
        caption="Calls"
        columns={CALL_COLUMNS}
        query={calls}
        keyOf={({ id }) => id}
        empty="No such call."
        page={list.page}
        onPage={list.onPage}
        csv={{ path: `/v1/mcp-servers/${serverId}/calls`, query: { search: list.search, outcome } }}
      />
    </Card>
  );
}

const CALL_COLUMNS: readonly Column<McpCall>[] = [
  { title: 'Time', cell: ({ created_at }) => <span title={dateTime(created_at)}>{fromNow(created_at)}</span> },
  {
    title: 'Call',
    cell: ({ tool, rpc_method, http_method }) => (
      <>
        <span className="font-medium">{tool ?? rpc_method ?? http_method}</span>
        {tool !== null && <p className="text-xs text-muted">{rpc_method}</p>}
      </>
    ),
  },
  { title: 'User', cell: ({ user_id, caller_id }) => <span className="break-all">{user_id ?? caller_id}</span> },
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
  { title: 'Time taken', align: 'right', cell: ({ total_ms }) => `${Math.round(total_ms)} ms` },
  {
    title: 'Trace',
    isExtra: true,
    cell: ({ trace_id }) => <span className="font-mono text-xs break-all text-muted">{trace_id}</span>,
  },
];

function Tools({ serverId, mayChange }: { readonly serverId: string; readonly mayChange: boolean }) {
  const queries = useQueryClient();
  const options = listMcpServerToolsOptions({ path: { ref: serverId } });
  const tools = useQuery(options);
  const change = useMutation({
    mutationFn: ({ name, enabled }: Pick<McpServerTool, 'name' | 'enabled'>) =>
      updateMcpServerTools({ path: { ref: serverId }, body: { tools: [{ name, enabled }] }, throwOnError: true }),
    onSettled: () => queries.invalidateQueries({ queryKey: options.queryKey }),
  });
  return (
    <Card title="Tools">
      {tools.isPending && <Loading />}
      {tools.isLoadingError && <ErrorNote error={tools.error} />}
      {change.isError && <ErrorNote error={change.error} />}
      {tools.data !== undefined &&
        (tools.data.data.length === 0 ? (
          <Empty>The gateway has not seen a list of tools yet. Test the server to read it.</Empty>
        ) : (
          <ul className="divide-y divide-line">
            {tools.data.data.slice(0, MAX_TOOLS).map((tool) => (
              <li key={tool.name} className="flex items-start justify-between gap-4 px-4 py-3">
                <div className="min-w-0">
                  <p className="font-mono break-all">{tool.name}</p>
                  <p className="max-w-3xl text-xs text-muted">{tool.description}</p>
                  {tool.held && <Badge tone="warn">changed, held back</Badge>}
                </div>
                <label className="flex items-center gap-2 whitespace-nowrap">
                  <input
                    type="checkbox"
                    role="switch"
                    className="size-4 accent-accent"
                    checked={tool.enabled}
                    disabled={!mayChange || change.isPending}
                    onChange={({ target }) => change.mutate({ name: tool.name, enabled: target.checked })}
                    aria-label={`Enable ${tool.name}`}
                  />
                  {tool.enabled ? 'enabled' : 'off'}
                </label>
              </li>
            ))}
          </ul>
        ))}
    </Card>
  );
}

function isOutcome(text: string | undefined): text is McpCall['outcome'] {
  return text !== undefined && text in OUTCOMES;
}
