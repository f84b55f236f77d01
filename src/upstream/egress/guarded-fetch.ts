import type { ClientConnection } from '../../common/http/client-connection.js';
import { toExchangeError } from '../exchange-failure.js';
import type { UpstreamHeaders, UpstreamRequest } from '../upstream.types.js';
import type { EgressPolicy } from './egress-policy.js';
import { type Certificates, loneSender, upstreamMethod } from './lone-sender.js';

/** Statuses for which the Response constructor accepts no body. */
const WITHOUT_BODY = [204, 205];

export interface GuardedFetchOptions extends Certificates {
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
}

/**
 * A `fetch` over `loneSender`, for libraries that accept one. Rejects with UpstreamFailure, or with the reason of the
 * caller's signal.
 */
export function guardedFetch(policy: EgressPolicy, options: GuardedFetchOptions): typeof fetch {
  const { timeoutMs, maxResponseBytes, ca } = options;
  const send = loneSender(policy, timeoutMs);
  return async (input, init) => {
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    signal?.throwIfAborted();
    const url = new URL(input instanceof Request ? input.url : input);
    try {
      // Runs before the Request is constructed, which throws for a URL with a password, in a message with the URL.
      policy.checkUrl(url);
    } catch (error) {
      throw toExchangeError(error, 'unsent', url.host);
    }
    const request = await toUpstreamRequest(url, new Request(input, init));
    try {
      const call = { request, timeoutMs, maxResponseBytes, caller: presenceOf(signal) };
      const answer = await send(call, { ca });
      return new Response(WITHOUT_BODY.includes(answer.status) ? null : answer.body, {
        status: answer.status,
        headers: headerPairs(answer.headers),
      });
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  };
}

async function toUpstreamRequest(url: URL, request: Request): Promise<UpstreamRequest> {
  return {
    method: upstreamMethod(request.method),
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

/** A repeated header becomes one pair for each value. */
function headerPairs(headers: UpstreamHeaders): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const values = value === undefined ? [] : typeof value === 'string' ? [value] : value;
    return values.map((single): [string, string] => [name, single]);
  });
}
