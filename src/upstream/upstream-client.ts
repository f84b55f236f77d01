import { Pool } from 'undici';
import { dispatchBuffered } from './buffered-dispatch.js';
import { CallLimits } from './call-limits.js';
import type { EgressPolicy } from './egress/egress-policy.js';
import { guardedConnector, type GuardedConnectorOptions } from './egress/guarded-connector.js';
import { toExchangeError } from './exchange-failure.js';
import { OriginPools } from './origin-pools.js';
import { sendWithRetries, type RetryClock } from './retry-loop.js';
import {
  UpstreamFailure,
  type UpstreamAnswer,
  type UpstreamCall,
  type UpstreamRequest,
  type UpstreamSender,
} from './upstream.types.js';

const DEFAULT_MAX_ORIGINS = 128;
// Shorter than the 60 s after which load balancers commonly drop an idle connection. A server's own Keep-Alive hint wins.
const KEEP_ALIVE_MS = 30_000;

export interface UpstreamClientOptions extends GuardedConnectorOptions, Partial<RetryClock> {
  /** Further calls to the same origin wait for a free connection, within their deadline. */
  readonly connectionsPerOrigin: number;
  /** Origins whose idle connections are kept; default 128. */
  readonly maxOrigins?: number;
}

/** Every provider call goes through here: egress rules, pooled connections, one deadline, retries. */
export class UpstreamClient implements UpstreamSender {
  readonly #pools: OriginPools;
  readonly #clock: RetryClock;
  #running = 0;
  #onIdle: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor(
    private readonly policy: EgressPolicy,
    options: UpstreamClientOptions,
  ) {
    this.#clock = { now: options.now ?? Date.now, random: options.random ?? Math.random };
    const connect = guardedConnector(policy, options);
    this.#pools = new OriginPools(options.maxOrigins ?? DEFAULT_MAX_ORIGINS, (origin) => {
      return new Pool(origin, {
        connect,
        connections: options.connectionsPerOrigin,
        pipelining: 1,
        keepAliveTimeout: KEEP_ALIVE_MS,
        // The deadline of the call covers both.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
    });
  }

  async send(call: UpstreamCall): Promise<UpstreamAnswer> {
    if (this.#closing) throw new UpstreamFailure('connect', 'the gateway is shutting down');
    this.#running += 1;
    const limits = new CallLimits(call, this.#clock.now);
    try {
      return await sendWithRetries(call, limits, this.#clock, (request) => this.#attempt(request, call, limits));
    } finally {
      limits.dispose();
      this.#running -= 1;
      if (this.#running === 0) this.#onIdle?.();
    }
  }

  /** Refuses new calls, lets the running ones finish (their deadlines bound that), then closes all connections. */
  close(): Promise<void> {
    this.#closing ??= this.#drain();
    return this.#closing;
  }

  async #attempt(request: UpstreamRequest, call: UpstreamCall, limits: CallLimits): Promise<UpstreamAnswer> {
    try {
      this.policy.checkUrl(request.url);
    } catch (error) {
      throw toExchangeError(error, 'unsent', request.url.host);
    }
    const entry = this.#pools.acquire(request.url.origin);
    try {
      return await dispatchBuffered(entry.pool, request, call.maxResponseBytes, limits);
    } finally {
      this.#pools.release(entry);
    }
  }

  async #drain(): Promise<void> {
    if (this.#running > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    await this.#pools.close();
  }
}
