import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { listMcpServerToolsOptions } from '../api/@tanstack/react-query.gen';
import { testMcpServer, updateMcpServerTools } from '../api/sdk.gen';
import type { McpServerTool } from '../api/types.gen';
import { SearchBox } from '../components/page';
import { ErrorNote } from '../components/states';
import { type Column, Table } from '../components/table';
import { Badge } from '../components/ui/badge';
import { Button, SendButton } from '../components/ui/button';
import { Card } from '../components/ui/card';
import { PAGE_SIZE } from '../lib/list-search';
import { useLogin } from '../lib/login-context';
import { CallTool } from './call-tool';

/** The tools of a server, each with a switch, and a form to call it. */
export function McpTools({ serverId }: { readonly serverId: string }) {
  const { may } = useLogin();
  const queries = useQueryClient();
  // Not in the address, whose search is that of the calls on the same page.
  const [{ search, page }, setShown] = useState({ search: '', page: 0 });
  const onSearch = useCallback((text: string) => setShown({ search: text.trim(), page: 0 }), []);
  const searched = search === '' ? {} : { search };
  const [called, setCalled] = useState<McpServerTool>();
  const options = listMcpServerToolsOptions({
    path: { ref: serverId },
    query: { current_page: page, page_size: PAGE_SIZE, ...searched },
  });
  const tools = useQuery({ ...options, placeholderData: (previous) => previous });
  // What is on its way shows as it will be, however many switches that are.
  const [pending, setPending] = useState<readonly Switch[]>([]);
  const change = useMutation({
    // One after the other: the last one counts.
    scope: { id: `tools of ${serverId}` },
    onMutate: (one: Switch) => setPending((before) => [...before, one]),
    mutationFn: ({ name, enabled }) =>
      updateMcpServerTools({ path: { ref: serverId }, body: { tools: [{ name, enabled }] }, throwOnError: true }),
    // Pending until the list has it, so that the switch does not go back and forth.
    onSuccess: () => queries.invalidateQueries({ queryKey: options.queryKey }),
    onSettled: (_data, _error, one) => setPending((before) => before.filter((each) => each !== one)),
  });
  const read = useMutation({
    meta: { done: 'The tools were read from the server.' },
    mutationFn: async () => {
      const { data } = await testMcpServer({ path: { ref: serverId }, body: {}, throwOnError: true });
      if (!data.ok) throw new Error(`The server did not list its tools: ${data.reason ?? data.error ?? 'no answer'}`);
    },
  });
  const toggle = (tool: McpServerTool, enabled: boolean): void => change.mutate({ name: tool.name, enabled });
  return (
    <Card
      title="Tools"
      side={
        <div className="flex flex-wrap items-center gap-2 max-sm:w-full">
          <SearchBox label="Search tools" value={search} onSearch={onSearch} />
          {may('mcp_servers.read') && (
            <SendButton sent={read} onSend={() => read.mutate()}>
              {read.isPending ? 'Reading…' : 'Read from the server'}
            </SendButton>
          )}
        </div>
      }
    >
      {change.isError && <ErrorNote error={change.error} />}
      {read.isError && <ErrorNote error={read.error} />}
      <Table
        caption="Tools"
        columns={columnsOf({
          toggle: may('mcp_servers.update') ? toggle : undefined,
          pending,
          call: may('mcp.invoke') ? setCalled : undefined,
        })}
        query={tools}
        keyOf={({ name }) => name}
        empty={
          search === ''
            ? 'The gateway has not seen a list of tools yet. Read it from the server.'
            : 'No tool has this text in its name or its description.'
        }
        page={page}
        onPage={(next) => setShown({ search, page: next })}
        csv={{ path: `/v1/mcp-servers/${serverId}/tools`, query: searched }}
      />
      {called !== undefined && <CallTool serverId={serverId} tool={called} onClose={() => setCalled(undefined)} />}
    </Card>
  );
}

type Switch = Pick<McpServerTool, 'name' | 'enabled'>;

interface Acts {
  readonly toggle: ((tool: McpServerTool, enabled: boolean) => void) | undefined;
  /** Changes that the list does not have yet. */
  readonly pending: readonly Switch[];
  readonly call: ((tool: McpServerTool) => void) | undefined;
}

function columnsOf({ toggle, pending, call }: Acts): readonly Column<McpServerTool>[] {
  const isEnabled = (tool: McpServerTool): boolean =>
    (pending.findLast(({ name }) => name === tool.name) ?? tool).enabled;
  return [
    {
      title: 'Tool',
      cell: ({ name, description, held }) => (
        <div className="max-w-3xl">
          <p className="font-mono wrap-anywhere">{name}</p>
          <p className="line-clamp-3 text-xs wrap-anywhere text-muted">{description}</p>
          {held && <Badge tone="warn">changed, held back</Badge>}
        </div>
      ),
    },
    {
      title: 'Clients can use it',
      cell: (tool) => (
        <label className="flex items-center gap-2 whitespace-nowrap">
          <input
            type="checkbox"
            role="switch"
            className="size-4 accent-accent"
            checked={isEnabled(tool)}
            disabled={toggle === undefined}
            onChange={({ target }) => toggle?.(tool, target.checked)}
            aria-label={`Enable ${tool.name}`}
          />
          {isEnabled(tool) ? 'enabled' : 'off'}
        </label>
      ),
    },
    ...(call === undefined
      ? []
      : [
          {
            title: 'Actions',
            cell: (tool: McpServerTool) => (
              <Button
                size="small"
                aria-label={`Call ${tool.name}`}
                disabled={!tool.enabled || tool.held}
                onClick={() => call(tool)}
              >
                Call
              </Button>
            ),
          },
        ]),
  ];
}
