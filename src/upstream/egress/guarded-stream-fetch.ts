import { Agent, fetch as undiciFetch } from 'undici';
import { UpstreamFailure } from '../upstream.types.js';
import { type EgressPolicy, MAX_NAMED_URL_LENGTH } from './egress-policy.js';
import { guardedConnector, type GuardedConnectorOptions } from './guarded-connector.js';

type FetchInput = string | URL;

export interface GuardedStreamFetchOptions extends GuardedConnectorOptions {
  /** The largest answer, in bytes after decompression. */
  readonly maxResponseBytes: number;
}

export interface GuardedStreamFetch {
  readonly fetch: (input: FetchInput, init?: RequestInit) => Promise<Response>;
  /**
   * Aborts with an UpstreamFailure `too_large` when an answer is too large. Callers combine it with other signals,
   * since a library may swallow errors.
   */
  readonly overflow: AbortSignal;
  /** Closes all connections, and aborts the requests on them. */
  close(): Promise<void>;
}

/**
 * A `fetch` for libraries that read streamed answers (server-sent events). It follows the egress rules, and fails on a
 * redirect or a too large answer. Its connections stay open until it is closed.
 */
export function guardedStreamFetch(policy: EgressPolicy, options: GuardedStreamFetchOptions): GuardedStreamFetch {
  const agent = new Agent({ connect: guardedConnector(policy, options), headersTimeout: 0, bodyTimeout: 0 });
  const overflow = new AbortController();
  return {
    fetch: async (input, init = {}) => {
      const url = new URL(input);
      policy.checkUrl(url, MAX_NAMED_URL_LENGTH);
      const answer = await undiciFetch(url, {
        method: init.method ?? 'GET',
        headers: [...new Headers(init.headers)],
        body: typeof init.body === 'string' ? init.body : null,
        signal: init.signal ?? null,
        redirect: 'error',
        dispatcher: agent,
      });
      const body = answer.body?.pipeThrough(bounded(url.host, options.maxResponseBytes, overflow));
      return new Response(body ?? null, { status: answer.status, headers: [...answer.headers] });
    },
    overflow: overflow.signal,
    close: () => agent.destroy(),
  };
}

function bounded(host: string, maxBytes: number, overflow: AbortController): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  return new TransformStream({
    transform(chunk, controller) {
      size += chunk.length;
      if (size <= maxBytes) return controller.enqueue(chunk);
      const failure = new UpstreamFailure('too_large', `${host} sent more than ${maxBytes} bytes`);
      overflow.abort(failure);
      throw failure;
    },
  });
}
