import { Readable } from 'node:stream';
import { Pool, type Client } from 'undici';
import { dispatchBuffered } from './buffered-dispatch.js';
import { CallDeadline } from './call-deadline.js';
import type { EgressPolicy } from './egress/egress-policy.js';
import { guardedConnector, type GuardedConnectorOptions } from './egress/guarded-connector.js';
import { ExchangeClient } from './exchange-client.js';
import { toExchangeError } from './exchange-failure.js';
import { type OriginPool, OriginPools } from './origin-pools.js';
import { openRelayPool } from './relay-pool.js';
import { dispatchRelayed } from './relayed-dispatch.js';
import { sendWithRetries, type RetryClock } from './retry-loop.js';
import { RunningCalls } from '../common/running-calls.js';
import { UploadBody } from './upload-body.js';
import {
  UpstreamFailure,
  type UpstreamAnswer,
  type UpstreamCall,
  type UpstreamRelayCall,
  type RelayedAnswer,
  type UpstreamSender,
} from './upstream.types.js';

const DEFAULT_MAX_ORIGINS = 128;
const DEFAULT_RELAYS_PER_ORIGIN = 1_024;
const DEFAULT_RELAY_GRACE_MS = 10_000;
const DEFAULT_RELAY_PAUSE_MS = 300_000;

const CONNECTION_OPTIONS = {
  pipelining: 1,
  // Shorter than the 60 s after which load balancers commonly drop an idle connection. A server's own Keep-Alive hint wins.
  keepAliveTimeout: 30_000,
  // The limits of the call cover both.
  headersTimeout: 0,
  bodyTimeout: 0,
} as const satisfies Client.Options;

export interface UpstreamClientOptions extends GuardedConnectorOptions, Partial<RetryClock> {
  /** Further calls to the same origin wait for a free connection, within their deadline. */
  readonly connectionsPerOrigin: number;
  /** The same for relayed calls; default 1,024. */
  readonly relaysPerOrigin?: number;
  /** Milliseconds that `close` leaves to relayed calls; default 10,000. */
  readonly relayGraceMs?: number;
  /** Longest time in milliseconds in which the receiver of an answer takes no data; default 300,000, at least the call's idle timeout. */
  readonly relayPauseMs?: number;
  /** Origins whose idle connections are kept; default 128. */
  readonly maxOrigins?: number;
}

/** Every provider call goes through here: egress rules, pooled connections, limits on time, retries. */
export class UpstreamClient implements UpstreamSender {
  readonly #pools: OriginPools;
  /** Apart, since a stream may hold its connection for hours: a few of them would leave short calls none to wait for. */
  readonly #relayPools: OriginPools;
  readonly #clock: RetryClock;
  readonly #sends = new RunningCalls();
  readonly #relays = new RunningCalls();
  readonly #relayGraceMs: number;
  readonly #relayPauseMs: number;
  #closing: Promise<void> | undefined;

  constructor(
    private readonly policy: EgressPolicy,
    options: UpstreamClientOptions,
  ) {
    this.#clock = { now: options.now ?? Date.now, random: options.random ?? Math.random };
    this.#relayGraceMs = options.relayGraceMs ?? DEFAULT_RELAY_GRACE_MS;
    this.#relayPauseMs = options.relayPauseMs ?? DEFAULT_RELAY_PAUSE_MS;
    const connect = guardedConnector(policy, options);
    const maxOrigins = options.maxOrigins ?? DEFAULT_MAX_ORIGINS;
    this.#pools = new OriginPools(maxOrigins, (origin) => {
      const factory = (url: URL): Client => new ExchangeClient(url, connect, CONNECTION_OPTIONS);
      return new Pool(origin, { connections: options.connectionsPerOrigin, factory });
    });
    const connections = options.relaysPerOrigin ?? DEFAULT_RELAYS_PER_ORIGIN;
    this.#relayPools = new OriginPools(maxOrigins, (origin) => {
      return openRelayPool(origin, { ...CONNECTION_OPTIONS, connect, connections });
    });
  }

  async send(call: UpstreamCall): Promise<UpstreamAnswer> {
    this.#checkOpen();
    this.#sends.begin();
    const limits = new CallDeadline(call);
    try {
      return await sendWithRetries(call, limits, this.#clock, (request) => {
        const lease = this.#lease(this.#pools, request.url);
        return dispatchBuffered(lease.pool, request, call.maxResponseBytes, limits, () => this.#pools.release(lease));
      });
    } finally {
      limits.dispose();
      this.#sends.end();
    }
  }

  async relay(call: UpstreamRelayCall): Promise<RelayedAnswer> {
    this.#relays.begin();
    try {
      return await this.#relay(call);
    } finally {
      this.#relays.end();
    }
  }

  /**
   * Refuses new calls and lets the running ones finish, then closes all connections. Deadlines bound that for sends; a
   * stream may go on for ever, and is cut off when its grace is over.
   */
  close(): Promise<void> {
    this.#closing ??= this.#drain();
    return this.#closing;
  }

  async #relay(call: UpstreamRelayCall): Promise<RelayedAnswer> {
    const { request: unsigned, idleTimeoutMs, caller, sign } = call;
    // Made first, so that there is always somebody who listens to the source.
    const upload = unsigned.body instanceof Readable ? new UploadBody(unsigned.body) : undefined;
    const limits = new CallDeadline({ timeoutMs: idleTimeoutMs, caller }, 'nothing moved for');
    try {
      this.#checkOpen();
      const request = sign ? await limits.race(sign(unsigned, new Date(this.#clock.now()))) : unsigned;
      const body = upload ?? (Buffer.isBuffer(request.body) ? request.body : undefined);
      const pauseMs = Math.max(idleTimeoutMs, this.#relayPauseMs);
      if (!limits.expired) call.onAttemptStart?.();
      const lease = this.#lease(this.#relayPools, request.url);
      try {
        return await dispatchRelayed(lease.pool, { ...request, body }, { ...call, pauseMs }, limits);
      } finally {
        this.#relayPools.release(lease);
      }
    } catch (error) {
      // Nobody will send the rest, and whatever stands between the client and us should hear of it.
      if (error instanceof UpstreamFailure && error.kind === 'caller_gone') upload?.abandonSource();
      throw error;
    } finally {
      limits.dispose();
      upload?.destroy();
    }
  }

  #checkOpen(): void {
    if (this.#closing) throw new UpstreamFailure('connect', 'the gateway is shutting down');
  }

  /** To be given back with `release`. */
  #lease(pools: OriginPools, url: URL): OriginPool {
    try {
      this.policy.checkUrl(url);
    } catch (error) {
      throw toExchangeError(error, 'unsent', url.host);
    }
    return pools.acquire(url.origin);
  }

  async #drain(): Promise<void> {
    await Promise.all([this.#sends.idle(), this.#relays.idle(this.#relayGraceMs)]);
    await Promise.all([this.#pools.close(), this.#relayPools.close()]);
  }
}
