import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Injectable } from '@nestjs/common';
import { EgressPolicy } from '../../upstream/egress/egress-policy.js';
import { type GuardedStreamFetch, guardedStreamFetch } from '../../upstream/egress/guarded-stream-fetch.js';
import { MAX_TOOLS, type SeenTool } from './mcp-server.tools.js';
import type { McpServerTestResponse } from './mcp-server-test.response.js';
import type { UsableMcpServer } from './usable-mcp-server.js';

const CONNECT_TIMEOUT_MS = 5_000;
/** For all of it: who waits for a test sits in front of a screen. */
const TEST_TIMEOUT_MS = 20_000;
const MAX_PAGES = 50;

/** What a server says of itself. */
export type ReachedServer = Pick<McpServerTestResponse, 'protocol_version' | 'server'> & {
  readonly tools: readonly SeenTool[];
};

/** Speaks MCP with a server on the gateway's own behalf, as the official client. */
@Injectable()
export class McpReach {
  constructor(private readonly egress: EgressPolicy) {}

  /** Rejects with what the client throws; see probe-failure.ts. */
  async ask(server: UsableMcpServer, headers: Readonly<Record<string, string>>): Promise<ReachedServer> {
    const network = guardedStreamFetch(this.egress, { connectTimeoutMs: CONNECT_TIMEOUT_MS });
    const deadline = AbortSignal.timeout(TEST_TIMEOUT_MS);
    const transport = transportFor(server, headers, network, deadline);
    const client = new Client({ name: 'tollgate', version: '0.1.0' });
    try {
      await client.connect(transport, { timeout: TEST_TIMEOUT_MS, signal: deadline });
      const tools = await listTools(client, deadline);
      const { name, version } = client.getServerVersion() ?? {};
      const protocolVersion =
        transport instanceof StreamableHTTPClientTransport ? transport.protocolVersion : undefined;
      // A server must not collect the sessions of tests.
      if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession().catch(() => undefined);
      return {
        protocol_version: protocolVersion ?? null,
        server: name === undefined ? null : { name, version: version ?? '' },
        tools,
      };
    } finally {
      await client.close().catch(() => undefined);
      await network.close();
    }
  }
}

function transportFor(
  { url, transport }: UsableMcpServer,
  own: Readonly<Record<string, string>>,
  network: GuardedStreamFetch,
  deadline: AbortSignal,
): StreamableHTTPClientTransport | SSEClientTransport {
  const withHeaders = async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(own)) headers.set(name, value);
    const signal = init.signal ? AbortSignal.any([init.signal, deadline]) : deadline;
    return network.fetch(input, { ...init, headers, signal });
  };
  return transport === 'sse'
    ? new SSEClientTransport(url, { fetch: withHeaders, eventSourceInit: { fetch: withHeaders } })
    : new StreamableHTTPClientTransport(url, { fetch: withHeaders });
}

async function listTools(client: Client, signal: AbortSignal): Promise<readonly SeenTool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const tools: SeenTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && tools.length < MAX_TOOLS; page += 1) {
    const answer = await client.listTools(cursor === undefined ? {} : { cursor }, { signal });
    tools.push(...answer.tools.map(({ name, description }) => ({ name, description })));
    cursor = answer.nextCursor;
    if (cursor === undefined) break;
  }
  return tools;
}
