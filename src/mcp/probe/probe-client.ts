import { Injectable } from '@nestjs/common';
import type { ClientConnection } from '../../common/http/client-connection.js';
import { withDeadline } from '../../common/time/with-deadline.js';
import { EgressPolicy } from '../../upstream/egress/egress-policy.js';
import { guardedStreamFetch } from '../../upstream/egress/guarded-stream-fetch.js';
import { UpstreamFailure } from '../../upstream/upstream.types.js';
import { STATELESS_REVISION } from '../protocol-revision.js';
import type { UsableMcpServer } from '../servers/usable-mcp-server.js';
import { agreedRevision } from './handshake-check.js';
import { type Approach, MAX_ANSWER_BYTES, type Reachable, type ProbeResult } from './probe-result.js';
import { discover, listTools } from './stateless-client.js';
import { NO_TOOLS } from './tool-pages.js';

const CONNECT_TIMEOUT_MS = 5_000;
const LEAST_TEST_TIMEOUT_MS = 20_000;

/**
 * For all of a test, in milliseconds. Who waits for it sits in front of a screen; but a server that is known to be slow must be able
 * to pass.
 */
export function testTimeoutMs({ timeouts }: Pick<UsableMcpServer, 'timeouts'>): number {
  return Math.max(LEAST_TEST_TIMEOUT_MS, timeouts.first_byte_ms ?? 0);
}

/** Speaks MCP with a server on the gateway's own behalf, in the way of the era that the server turns out to be of. */
@Injectable()
export class McpProbeClient {
  constructor(private readonly egress: EgressPolicy) {}

  /** @throws GatewayError: what the server answered or did not answer, as a code of ours */
  async ask(
    server: Reachable,
    headers: Readonly<Record<string, string>>,
    caller: ClientConnection,
    timeoutMs: number,
  ): Promise<ProbeResult> {
    const network = guardedStreamFetch(this.egress, {
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      maxResponseBytes: MAX_ANSWER_BYTES,
    });
    const left = new AbortController();
    const leave = (): void => left.abort(new UpstreamFailure('caller_gone', 'the caller of the test has left'));
    const stopWatching = caller.onAbort(leave);
    try {
      return await withDeadline(timeoutMs, [network.overflow, left.signal], (deadline) =>
        askInItsEra(server, { headers, network, deadline }),
      );
    } finally {
      stopWatching();
      await network.close();
    }
  }
}

async function askInItsEra(server: Reachable, approach: Approach): Promise<ProbeResult> {
  const found = server.transport === 'sse' ? undefined : await askStateless(server, approach);
  if (found !== undefined) return found;
  // Loaded at the first use: the official client takes time and memory, and other requests pass through without it.
  const { askByHandshake } = await import('./handshake-client.js');
  return askByHandshake(server, approach);
}

async function askStateless({ url }: Reachable, approach: Approach): Promise<ProbeResult | undefined> {
  const discovery = await discover(url, approach);
  if (discovery === undefined) return undefined;
  const list = discovery.hasTools ? await listTools(url, approach) : NO_TOOLS;
  const agreed = await agreedRevision(url, approach);
  return {
    era: agreed === undefined ? 'modern' : 'both',
    protocol_version: STATELESS_REVISION,
    protocol_versions: [...new Set([...discovery.revisions, ...(agreed === undefined ? [] : [agreed])])],
    server: discovery.server,
    ...list,
  };
}
