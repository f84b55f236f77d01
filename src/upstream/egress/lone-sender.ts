import { CallDeadline } from '../call-deadline.js';
import { ExchangeClient } from '../exchange-client.js';
import { toExchangeError } from '../exchange-failure.js';
import { StreamExchange, wireRequest } from '../stream-exchange.js';
import type { UpstreamAnswer, UpstreamCall, UpstreamRequest } from '../upstream.types.js';
import type { EgressPolicy } from './egress-policy.js';
import { guardedConnector, type GuardedConnectorOptions } from './guarded-connector.js';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const NO_BODY = Buffer.alloc(0);

/** A call without retries. */
export type SingleCall = Pick<UpstreamCall, 'request' | 'timeoutMs' | 'maxResponseBytes' | 'caller'>;

export type Certificates = Pick<GuardedConnectorOptions, 'ca'>;

/** Rejects with UpstreamFailure. */
export type SendSingle = (call: SingleCall, certificates?: Certificates) => Promise<UpstreamAnswer>;

/**
 * Sends each request on its own connection, so that there is nothing to close: for rare calls. Follows the egress
 * rules, fails on a redirect, and buffers the whole answer.
 */
export function loneSender(policy: EgressPolicy, connectTimeoutMs: number): SendSingle {
  const connect = guardedConnector(policy, { connectTimeoutMs });
  return async ({ request, timeoutMs, maxResponseBytes, caller }, { ca } = {}) => {
    try {
      policy.checkUrl(request.url);
    } catch (error) {
      throw toExchangeError(error, 'unsent', request.url.host);
    }
    const connectTo = ca === undefined ? connect : guardedConnector(policy, { connectTimeoutMs, ca });
    const client = new ExchangeClient(request.url.origin, connectTo, {
      pipelining: 0,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const limits = new CallDeadline({ timeoutMs, caller });
    try {
      const exchange = new StreamExchange(wireRequest(request), { limits, maxBufferedBytes: maxResponseBytes });
      const { status, headers, body = NO_BODY } = await exchange.run(client);
      return { status, headers, body };
    } finally {
      limits.dispose();
      await client.destroy();
    }
  };
}

export function upstreamMethod(method: string): UpstreamRequest['method'] {
  const known = METHODS.find((name) => name === method);
  if (known === undefined) throw new TypeError(`the gateway sends no ${method} requests`);
  return known;
}
