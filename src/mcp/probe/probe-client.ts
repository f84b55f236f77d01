import { Injectable } from '@nestjs/common';
import type { ClientConnection } from '../../common/http/client-connection.js';
import { withDeadline } from '../../common/time/timeout.js';
import { EgressPolicy } from '../../upstream/egress/egress-policy.js';
import { guardedStreamFetch } from '../../upstream/egress/guarded-stream-fetch.js';
import { UpstreamFailure } from '../../upstream/upstream.types.js';
import { STATELESS_REVISION } from '../protocol-revision.js';
import type { UsableMcpServer } from '../servers/usable-mcp-server.js';
import { agreedRevision } from './handshake-check.js';
import {
  MAX_ANSWER_BYTES,
  type ProbeResult,
  type ProbeTransport,
  type Reachable,
  type ToolAnswer,
  type ToolRequest,
} from './probe.types.js';
import { callTool, discover, listTools } from './stateless-client.js';
import { NO_TOOLS } from './tool-pages.js';

const CONNECT_TIMEOUT_MS = 5_000;
const LEAST_TEST_TIMEOUT_MS = 20_000;

/**
 * Time limit of a whole test, in milliseconds. Short, because a person waits for it; longer for a server that is configured as
 * slow.
 */
export function testTimeoutMs({ timeouts }: Pick<UsableMcpServer, 'timeouts'>): number {
  return Math.max(LEAST_TEST_TIMEOUT_MS, timeouts.first_byte_ms ?? 0);
}

/** Probes an MCP server as the gateway's own client, with the protocol era that the server turns out to support. */
@Injectable()
export class McpProbeClient {
  constructor(private readonly egress: EgressPolicy) {}

  /** @throws GatewayError for an error of the server, or no answer */
  async ask(
    server: Reachable,
    headers: Readonly<Record<string, string>>,
    caller: ClientConnection,
    timeoutMs: number,
  ): Promise<ProbeResult> {
    return this.within(caller, timeoutMs, (probe) => askInItsEra(server, { headers, ...probe }));
  }

  /** Calls a tool once. @throws GatewayError for no answer, or one that is not of JSON-RPC */
  async callTool(
    server: Reachable,
    headers: Readonly<Record<string, string>>,
    caller: ClientConnection,
    request: ToolRequest,
  ): Promise<ToolAnswer> {
    return this.within(caller, request.timeoutMs, (probe) => callInItsEra(server, { headers, ...probe }, request));
  }

  private async within<Result>(
    caller: ClientConnection,
    timeoutMs: number,
    work: (probe: Pick<ProbeTransport, 'network' | 'deadline'>) => Promise<Result>,
  ): Promise<Result> {
    const network = guardedStreamFetch(this.egress, {
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      maxResponseBytes: MAX_ANSWER_BYTES,
    });
    const left = new AbortController();
    const leave = (): void => left.abort(new UpstreamFailure('caller_gone', 'the caller disconnected'));
    const stopWatching = caller.onAbort(leave);
    try {
      return await withDeadline(timeoutMs, [network.overflow, left.signal], (deadline) => work({ network, deadline }));
    } finally {
      stopWatching();
      await network.close();
    }
  }
}

async function askInItsEra(server: Reachable, probe: ProbeTransport): Promise<ProbeResult> {
  const found = server.transport === 'sse' ? undefined : await askStateless(server, probe);
  if (found !== undefined) return found;
  // Loaded at the first use: the official client takes time and memory, and only probes need it.
  const { askByHandshake } = await import('./handshake-client.js');
  return askByHandshake(server, probe);
}

async function callInItsEra(server: Reachable, probe: ProbeTransport, request: ToolRequest): Promise<ToolAnswer> {
  const isStateless = server.transport !== 'sse' && (await discover(server.url, probe)) !== undefined;
  if (isStateless) return callTool(server.url, probe, request);
  const { callByHandshake } = await import('./handshake-client.js');
  return callByHandshake(server, probe, request);
}

async function askStateless({ url }: Reachable, probe: ProbeTransport): Promise<ProbeResult | undefined> {
  const discovery = await discover(url, probe);
  if (discovery === undefined) return undefined;
  const list = discovery.hasTools ? await listTools(url, probe) : NO_TOOLS;
  const agreed = await agreedRevision(url, probe);
  return {
    era: agreed === undefined ? 'modern' : 'both',
    protocol_version: STATELESS_REVISION,
    protocol_versions: [...new Set([...discovery.revisions, ...(agreed === undefined ? [] : [agreed])])],
    server: discovery.server,
    ...list,
  };
}
