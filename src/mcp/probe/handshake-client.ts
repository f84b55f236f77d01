// MCP revisions that begin with `initialize`, and the older transport, spoken by the official client.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { abortedWith } from '../../common/time/with-deadline.js';
import { CLIENT_INFO } from './client-info.js';
import { endSession } from './end-session.js';
import { probeFailure } from './probe-failure.js';
import type { Approach, Reachable, ProbeResult } from './probe-result.js';
import { gatherTools, NO_TOOLS, type ToolList } from './tool-pages.js';

/**
 * The client would compile the schema of every tool's output, for results that it never gets here: a hostile one keeps the
 * process busy, and one that does not compile hides all tools.
 */
const UNREAD_SCHEMAS: jsonSchemaValidator = {
  getValidator: () => () => ({ valid: false, data: undefined, errorMessage: 'schemas are not read' }),
};
/** The client has a time of its own for each request; the approach has one for all of them. */
const REQUEST_TIMEOUT_MS = 20_000;

/** @throws GatewayError: what the client throws, as a code of ours */
export async function askByHandshake(server: Reachable, approach: Approach): Promise<ProbeResult> {
  const { deadline } = approach;
  const transport = transportFor(server, approach);
  const agreed = agreedRevisionOf(transport);
  const client = new Client(CLIENT_INFO, { jsonSchemaValidator: UNREAD_SCHEMAS });
  try {
    await client.connect(transport, { timeout: REQUEST_TIMEOUT_MS, signal: deadline });
    const list = await listTools(client, deadline);
    const { name, version } = client.getServerVersion() ?? {};
    const protocolVersion = agreed();
    return {
      era: 'legacy',
      protocol_version: protocolVersion,
      protocol_versions: protocolVersion === undefined ? [] : [protocolVersion],
      server: name === undefined ? null : { name, version: version ?? '' },
      ...list,
    };
  } catch (cause) {
    // The client does not always say that it was cut off, and never why.
    throw new GatewayError(probeFailure(deadline.aborted ? deadline.reason : cause), { cause });
  } finally {
    await client.close().catch(() => undefined);
    const sessionId = transport instanceof StreamableHTTPClientTransport ? transport.sessionId : undefined;
    if (sessionId !== undefined) await endSession(server.url, approach, sessionId, agreed());
  }
}

/** What client and server agree on: the client tells its transport, and only one of the two tells it on. */
function agreedRevisionOf(transport: Transport): () => string | undefined {
  let revision: string | undefined;
  const tell = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (agreed) => {
    revision = agreed;
    tell?.(agreed);
  };
  return () => revision;
}

function transportFor(
  { url, transport }: Reachable,
  { headers: own, network, deadline }: Approach,
): StreamableHTTPClientTransport | SSEClientTransport {
  const withHeaders = async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(own)) headers.set(name, value);
    const signal = init.signal ? abortedWith([init.signal, deadline]).signal : deadline;
    return network.fetch(input, { ...init, headers, signal });
  };
  return transport === 'sse'
    ? new SSEClientTransport(url, { fetch: withHeaders, eventSourceInit: { fetch: withHeaders } })
    : new StreamableHTTPClientTransport(url, { fetch: withHeaders });
}

async function listTools(client: Client, signal: AbortSignal): Promise<ToolList> {
  if (client.getServerCapabilities()?.tools === undefined) return NO_TOOLS;
  return gatherTools(async (cursor) => {
    const { tools, nextCursor } = await client.listTools(cursor === undefined ? {} : { cursor }, {
      signal,
      timeout: REQUEST_TIMEOUT_MS,
    });
    return { tools: tools.map(({ name, description }) => ({ name, description })), nextCursor };
  });
}
