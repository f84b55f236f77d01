import { GatewayError } from '../../common/errors/gateway.error.js';
import { UpstreamFailure, type UpstreamHead, firstHeader } from '../../upstream/upstream.types.js';
import type { McpHooks } from './mcp-proxy.types.js';

/**
 * The headers of an MCP server that the client receives. Left out on purpose: cookies, CORS headers (the gateway sends its
 * own), `Location`, `WWW-Authenticate`, and all headers of the connection.
 */
const PASSED_HEADERS = [
  'content-type',
  'content-length',
  'content-encoding',
  'content-language',
  'cache-control',
  'retry-after',
  'allow',
  'mcp-session-id',
  'mcp-protocol-version',
  'x-accel-buffering',
] as const;

/** The head of the answer as the client receives it; `headers` is name, value, name, value …. */
export interface ClientHead {
  readonly status: number;
  readonly headers: readonly string[];
  /** Whether the head must not wait for the first byte of the body. */
  readonly flush: boolean;
}

/**
 * @throws UpstreamFailure `redirect`: a redirect is neither followed nor returned, since it would send credentials to another host
 * @throws GatewayError `provider_credential_rejected` for 401 and 403 when `hooks` have no `challenge`
 */
export function clientHead(head: UpstreamHead, hooks: McpHooks, isFiltered: boolean): ClientHead {
  const { status } = head;
  if (status >= 300 && status < 400) throw new UpstreamFailure('redirect', `the MCP server redirects (${status})`);
  const isRejection = status === 401 || status === 403;
  if (isRejection && hooks.challenge === undefined) {
    throw new GatewayError('provider_credential_rejected', {
      message: 'The MCP server rejected the credential that the gateway presented.',
      reason: `upstream ${status}`,
    });
  }
  const passed = passedHeaders(head);
  const headers: string[] = [];
  let hasLength = false;
  let isUnbuffered = false;
  for (let at = 0; at + 1 < passed.length; at += 2) {
    const name = passed[at] ?? '';
    const value = passed[at + 1] ?? '';
    if (name === 'content-length') {
      if (isFiltered) continue;
      hasLength = true;
    } else if (name === 'x-accel-buffering') {
      isUnbuffered = true;
    } else if (name === 'mcp-session-id' && value === '') {
      // An empty id starts no session: official clients treat it as absent.
      continue;
    }
    headers.push(name, name === 'mcp-session-id' && hooks.wrapSessionId ? hooks.wrapSessionId(value) : value);
  }
  const isStream = isEventStream(head);
  // Otherwise a proxy between the client and the gateway may buffer the events.
  if (isStream && !isUnbuffered) headers.push('x-accel-buffering', 'no');
  if (isRejection && hooks.challenge !== undefined) headers.push('www-authenticate', hooks.challenge(head));
  // A filtered answer may still become an error, so its head waits for the first byte.
  return { status, headers, flush: isStream || !(hasLength || isFiltered) };
}

/** Whether the body is not compressed. */
export function isPlain({ headers }: UpstreamHead): boolean {
  return (firstHeader(headers, 'content-encoding') ?? 'identity').toLowerCase() === 'identity';
}

export function isEventStream({ headers }: UpstreamHead): boolean {
  return mediaTypeOf(firstHeader(headers, 'content-type')) === 'text/event-stream';
}

/** The media type in lower case and without parameters; empty when there is none. */
export function mediaTypeOf(contentType: string | undefined): string {
  // Asked several times for each answer, and nearly all have one of these.
  if (contentType === 'application/json' || contentType === 'text/event-stream') return contentType;
  return (contentType ?? '').split(';', 1).join('').trim().toLowerCase();
}

function passedHeaders({ headers }: UpstreamHead): readonly string[] {
  const passed: string[] = [];
  for (const name of PASSED_HEADERS) {
    const value = firstHeader(headers, name);
    if (value !== undefined) passed.push(name, value);
  }
  return passed;
}
