import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../../../common/errors/gateway.error.js';
import { readBody } from '../../../common/http/read-body.js';
import { EgressPolicy } from '../../../upstream/egress/egress-policy.js';
import { startHttp, type Loopback } from '../../../upstream/__fixtures__/loopback.js';
import { outboundHeaders, type OutboundHeadersInput } from '../../../identity/headers/outbound-headers.js';
import { toRawHeaders } from '../../../identity/headers/raw-headers.js';
import { sendRpcError } from '../../mcp-error.js';
import { McpProxy, type McpProxyOptions } from '../mcp-proxy.js';
import type { McpForward, McpOutcome, McpTarget } from '../mcp-proxy.types.js';

const BODY_LIMITS = { maxBytes: 4 * 1024 * 1024, totalMs: 300_000, silenceMs: 30_000 };

/** A small gateway: forwards every request to one target, with the MCP headers only. */
export interface ProxyingServer extends Loopback {
  readonly endpoint: URL;
  readonly proxy: McpProxy;
  /** The outcomes of the requests, in the order in which they ended. */
  readonly outcomes: readonly McpOutcome[];
}

export type Changes = Partial<McpForward> & { readonly target?: McpTarget };

export interface ProxyingOptions extends McpProxyOptions {
  /** Replaces parts of what every request is forwarded with. */
  readonly change?: (request: IncomingMessage, response: ServerResponse) => Changes | Promise<Changes>;
}

export function targetAt(url: URL, changes: Partial<McpTarget> = {}): McpTarget {
  return {
    url,
    transport: 'streamable_http',
    timeouts: { firstByteMs: 120_000 },
    ...changes,
  };
}

/** Headers as the gateway builds them, in the form of `McpForward`. */
export function headersFor(request: IncomingMessage, input: Partial<OutboundHeadersInput>): readonly string[] {
  const headers = outboundHeaders({ client: toRawHeaders(request.rawHeaders), ...input });
  return [...headers].flatMap(([name, value]) => (name === 'content-length' ? [] : [name, value]));
}

export async function startProxying(target: McpTarget, options: ProxyingOptions = {}): Promise<ProxyingServer> {
  const proxy = new McpProxy(new EgressPolicy(['127.0.0.1/32', 'localhost']), options);
  const outcomes: McpOutcome[] = [];

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const leave = request.method === 'GET' ? undefined : proxy.enterCall('caller');
    try {
      await pass(request, response);
    } finally {
      leave?.();
    }
  };
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const session = request.headers['mcp-session-id'];
    const headers = headersFor(request, { sessionId: typeof session === 'string' ? session : undefined });
    const body = request.method === 'POST' ? await readBody(request, BODY_LIMITS) : undefined;
    const changes = await options.change?.(request, response);
    if (response.writableEnded) return;
    const outcome = await proxy.forward({ request, response, target, headers, callerKey: 'caller', body, ...changes });
    outcomes.push(outcome);
  };
  const server = await startHttp((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (error instanceof GatewayError) sendRpcError(response, error);
      else response.destroy();
    });
  });
  const close = async (): Promise<void> => {
    await Promise.all([proxy.close(0), server.close()]);
  };
  return { ...server, endpoint: server.url('/mcp'), proxy, outcomes, close };
}
