import { Agent, fetch as undiciFetch } from 'undici';
import type { EgressPolicy } from './egress-policy.js';
import { guardedConnector, type GuardedConnectorOptions } from './guarded-connector.js';

type FetchInput = string | URL;

export interface GuardedStreamFetch {
  readonly fetch: (input: FetchInput, init?: RequestInit) => Promise<Response>;
  /** Ends every connection, and what still runs on them. */
  close(): Promise<void>;
}

/**
 * A `fetch` for libraries that read answers as they come (event streams). It obeys the egress rules and fails on a
 * redirect. Its connections live until it is closed.
 */
export function guardedStreamFetch(policy: EgressPolicy, options: GuardedConnectorOptions): GuardedStreamFetch {
  const agent = new Agent({ connect: guardedConnector(policy, options), headersTimeout: 0, bodyTimeout: 0 });
  return {
    fetch: async (input, init = {}) => {
      const url = new URL(input);
      policy.checkUrl(url);
      const answer = await undiciFetch(url, {
        method: init.method ?? 'GET',
        headers: [...new Headers(init.headers)],
        body: typeof init.body === 'string' ? init.body : null,
        signal: init.signal ?? null,
        redirect: 'error',
        dispatcher: agent,
      });
      return new Response(answer.body, { status: answer.status, headers: [...answer.headers] });
    },
    close: () => agent.destroy(),
  };
}
