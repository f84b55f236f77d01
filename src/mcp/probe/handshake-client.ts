// Probes servers with the official client: MCP revisions that begin with `initialize`, and the older transport (HTTP+SSE).
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport, SseError } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport, StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ErrorCode as RpcErrorCode, McpError, ResultSchema } from '@modelcontextprotocol/sdk/types.js';
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';
import type { ErrorCode } from '../../common/errors/error-codes.js';
import { GatewayError, type ProviderSaid } from '../../common/errors/gateway.error.js';
import { abortedWith } from '../../common/time/timeout.js';
import { UpstreamFailure } from '../../upstream/upstream.types.js';
import { endSession } from './handshake-check.js';
import {
  CLIENT_INFO,
  errorCodeForStatus,
  type ProbeResult,
  type ProbeTransport,
  type Reachable,
  type ToolAnswer,
  type ToolRequest,
} from './probe.types.js';
import { toSeenTool } from '../servers/seen-tool.js';
import { gatherTools, NO_TOOLS, type ToolList } from './tool-pages.js';

/**
 * By default, the client compiles the output schema of every tool, which a probe does not need. A hostile schema keeps the
 * process busy, and one that does not compile hides all tools.
 */
const UNREAD_SCHEMAS: jsonSchemaValidator = {
  getValidator: () => () => ({ valid: false, data: undefined, errorMessage: 'schemas are not read' }),
};
/** Of each request. The deadline of the probe is for all of them. */
const REQUEST_TIMEOUT_MS = 20_000;
const ZOD_ERRORS: readonly unknown[] = ['ZodError', '$ZodError'];
/** Errors that the client makes itself: no server has reported them. */
const OWN_CODES: readonly number[] = [RpcErrorCode.RequestTimeout, RpcErrorCode.ConnectionClosed];

/** @throws GatewayError for whatever the client throws */
export async function askByHandshake(server: Reachable, probe: ProbeTransport): Promise<ProbeResult> {
  return withSession(server, probe, async (client, agreed) => {
    const list = await listTools(client, probe.deadline);
    const { name, version } = client.getServerVersion() ?? {};
    const protocolVersion = agreed();
    return {
      era: 'legacy',
      protocol_version: protocolVersion,
      protocol_versions: protocolVersion === undefined ? [] : [protocolVersion],
      server: name === undefined ? null : { name, version: version ?? '' },
      ...list,
    };
  });
}

/** @throws GatewayError for whatever the client throws, but not for an error that the server reports as JSON-RPC */
export async function callByHandshake(
  server: Reachable,
  probe: ProbeTransport,
  { params, timeoutMs, onSend }: ToolRequest,
): Promise<ToolAnswer> {
  return withSession(server, probe, async (client) => {
    onSend();
    try {
      const options = { signal: probe.deadline, timeout: timeoutMs };
      return { result: await client.request({ method: 'tools/call', params }, ResultSchema, options) };
    } catch (error) {
      if (!(error instanceof McpError) || OWN_CODES.includes(error.code)) throw error;
      return { error: { code: error.code, message: error.message.replace(/^MCP error -?\d+: /, '') } };
    }
  });
}

/** Begins a session, and ends it. */
async function withSession<Result>(
  server: Reachable,
  probe: ProbeTransport,
  work: (client: Client, agreed: () => string | undefined) => Promise<Result>,
): Promise<Result> {
  const { deadline } = probe;
  const transport = transportFor(server, probe);
  const agreed = agreedRevisionOf(transport);
  const client = new Client(CLIENT_INFO, { jsonSchemaValidator: UNREAD_SCHEMAS });
  try {
    await client.connect(transport, { timeout: REQUEST_TIMEOUT_MS, signal: deadline });
    return await work(client, agreed);
  } catch (cause) {
    // The client does not always report an abort, and never its reason.
    const failed: unknown = deadline.aborted ? deadline.reason : cause;
    throw new GatewayError(probeFailure(failed), { cause: failed, provider: answered(failed) });
  } finally {
    await client.close().catch(() => undefined);
    const sessionId = transport instanceof StreamableHTTPClientTransport ? transport.sessionId : undefined;
    if (sessionId !== undefined) await endSession(server.url, probe, sessionId, agreed());
  }
}

/** The revision that client and server agree on. The client sets it on its transport, and only one of the two transports shows it. */
function agreedRevisionOf(transport: Transport): () => string | undefined {
  let revision: string | undefined;
  const setVersion = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (agreed) => {
    revision = agreed;
    setVersion?.(agreed);
  };
  return () => revision;
}

function transportFor(
  { url, transport }: Reachable,
  { headers: own, network, deadline }: ProbeTransport,
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
    return {
      tools: tools.map((tool) => toSeenTool(tool.name, tool)),
      nextCursor,
    };
  });
}

/** The error code for an error of the official client. Its messages are not shown, since they quote servers. */
function probeFailure(error: unknown): ErrorCode {
  if (error instanceof UpstreamFailure && error.kind === 'too_large') return 'provider_invalid_response';
  if (error instanceof UnauthorizedError) return 'provider_credential_rejected';
  if (error instanceof McpError)
    return error.code === RpcErrorCode.RequestTimeout ? 'provider_timeout' : 'provider_rejected';
  if (isTimeout(error)) return 'provider_timeout';
  if (error instanceof StreamableHTTPError) return errorCodeForStatus(error.code);
  if (error instanceof SyntaxError || isZodError(error)) return 'provider_invalid_response';
  return 'provider_failed';
}

/** The status, where the server refused the request with one. */
function answered(error: unknown): ProviderSaid | undefined {
  if (error instanceof UnauthorizedError) return { status: 401 };
  if (!(error instanceof StreamableHTTPError) && !(error instanceof SseError)) return undefined;
  return error.code !== undefined && error.code >= 300 ? { status: error.code } : undefined;
}

/** Zod has two editions, and their errors are not always instances of Error. */
function isZodError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'name' in error && ZOD_ERRORS.includes(error.name);
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError');
}
