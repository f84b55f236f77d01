import { Client } from 'undici';
import type { ClientConnection } from '../../common/http/client-connection.js';
import { dispatchBuffered } from '../buffered-dispatch.js';
import { CallDeadline } from '../call-deadline.js';
import { toExchangeError } from '../exchange-failure.js';
import type { UpstreamRequest } from '../upstream.types.js';
import type { EgressPolicy } from './egress-policy.js';
import { guardedConnector, type GuardedConnectorOptions } from './guarded-connector.js';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
/** Statuses with which the Response constructor takes no body. */
const WITHOUT_BODY = [204, 205];

export interface GuardedFetchOptions extends Pick<GuardedConnectorOptions, 'ca'> {
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
}

/**
 * A `fetch`, also for libraries that take one: for calls that come now and then. It obeys the
 * egress rules, fails on a redirect, and holds the whole answer. Each call opens a connection of its own, so that there
 * is nothing to close. Rejects with UpstreamFailure, or with the reason of the caller's signal.
 */
export function guardedFetch(policy: EgressPolicy, options: GuardedFetchOptions): typeof fetch {
  const connect = guardedConnector(policy, { connectTimeoutMs: options.timeoutMs, ca: options.ca });

  return async (input, init) => {
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    signal?.throwIfAborted();
    const url = new URL(input instanceof Request ? input.url : input);
    try {
      // Before Request is made: that throws for a URL with a password, and its message holds the URL.
      policy.checkUrl(url);
    } catch (error) {
      throw toExchangeError(error, 'unsent', url.host);
    }
    const request = await toUpstreamRequest(url, new Request(input, init));

    const client = new Client(url.origin, { connect, pipelining: 0, headersTimeout: 0, bodyTimeout: 0 });
    const limits = new CallDeadline({ timeoutMs: options.timeoutMs, caller: presenceOf(signal) });
    try {
      const answer = await dispatchBuffered(client, request, options.maxResponseBytes, limits);
      return new Response(WITHOUT_BODY.includes(answer.status) ? null : answer.body, {
        status: answer.status,
        headers: headerPairs(answer.headers),
      });
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      limits.dispose();
      await client.destroy();
    }
  };
}

async function toUpstreamRequest(url: URL, request: Request): Promise<UpstreamRequest> {
  const method = METHODS.find((name) => name === request.method);
  if (method === undefined) throw new TypeError(`guarded fetch does not send ${request.method} requests`);
  return {
    method,
    url,
    headers: Object.fromEntries(request.headers),
    body: request.body === null ? undefined : Buffer.from(await request.arrayBuffer()),
  };
}

function presenceOf(signal: AbortSignal | null | undefined): ClientConnection {
  return {
    get aborted() {
      return signal?.aborted ?? false;
    },
    onAbort(listener) {
      if (signal?.aborted === true) listener();
      else signal?.addEventListener('abort', listener, { once: true });
      return () => signal?.removeEventListener('abort', listener);
    },
  };
}

function headerPairs(headers: Readonly<Record<string, string | readonly string[] | undefined>>): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const values = value === undefined ? [] : typeof value === 'string' ? [value] : value;
    return values.map((single): [string, string] => [name, single]);
  });
}
