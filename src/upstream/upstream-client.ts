import { Readable } from 'node:stream';
import type { Client, Pool } from 'undici';
import { GatewayError } from '../common/errors/gateway.error.js';
import type { BodyPace } from '../common/http/body-timer.js';
import { RunningCalls } from '../common/running-calls.js';
import { CallDeadline } from './call-deadline.js';
import type { EgressPolicy } from './egress/egress-policy.js';
import { guardedConnector, type GuardedConnectorOptions } from './egress/guarded-connector.js';
import { EventSink } from './event-sink.js';
import { openPool } from './exchange-client.js';
import { type ConnectionCounts, OriginPools, type ConnectionGate, type ConnectionShare } from './origin-pools.js';
import { sendWithRetries, type RetryClock, type AttemptSender } from './retry-loop.js';
import { type ExchangePlan, isRedirect, leastLeftMs, StreamExchange, tooLate, wireRequest } from './stream-exchange.js';
import { UploadBody } from './upload-body.js';
import {
  UpstreamFailure,
  type RelayedAnswer,
  type UpstreamAnswer,
  type UpstreamCall,
  type UpstreamRelayCall,
  type UpstreamSender,
  type UpstreamRequest,
} from './upstream.types.js';
import type { MaybePromise } from '../common/maybe-promise.js';
import { toExchangeError } from './exchange-failure.js';

const DEFAULT_MAX_ORIGINS = 128;
const DEFAULT_RELAY_GRACE_MS = 10_000;
const DEFAULT_RELAY_PAUSE_MS = 300_000;
const DEFAULT_KEEP_ALIVE_MS = 15_000;
const DEFAULT_UPLOAD_SILENCE_MS = 30_000;
/** The least that must arrive in that time. Any usable line is faster. */
const LEAST_UPLOAD_BYTES = 16 * 1024;

const UNSIGNABLE = 'the signature covers the body, which is a stream';
const NO_BODY = Buffer.alloc(0);

const CONNECTION_OPTIONS = {
  pipelining: 1,
  // Shorter than the 60 s after which load balancers commonly drop an idle connection. A server's own Keep-Alive hint wins.
  keepAliveTimeout: 30_000,
  // The limits of the call cover both.
  headersTimeout: 0,
  bodyTimeout: 0,
} as const satisfies Client.Options;

export interface UpstreamClientOptions extends GuardedConnectorOptions, Partial<RetryClock> {
  /** Shared out among the holders of calls; further calls to the same origin wait for a second at most. */
  readonly connectionsPerOrigin: number;
  /** Connections per origin for relayed calls, which have their own; by default as many. */
  readonly relaysPerOrigin?: number;
  /** Milliseconds that `close` leaves to relayed calls; default 10,000. */
  readonly relayGraceMs?: number;
  /**
   * Longest time in milliseconds in which the receiver of an answer accepts no data; default 300,000, and never less
   * than the call's idle timeout.
   */
  readonly relayPauseMs?: number;
  /** Silence in milliseconds after which a stream of events gets a comment; default 15,000, 0: none. */
  readonly keepAliveMs?: number;
  /** Milliseconds in which at least 16 KiB of an upload must arrive, while the provider takes them; default 30,000. */
  readonly uploadSilenceMs?: number;
  /** Origins whose idle connections are kept; default 128. */
  readonly maxOrigins?: number;
}

/** Every provider call goes through here: egress rules, pooled connections, limits on time, retries. */
export class UpstreamClient implements UpstreamSender {
  readonly #pools: OriginPools;
  /** Separate pools, since streams hold connections for hours and would leave none for short calls. */
  readonly #relayPools: OriginPools;
  readonly #clock: RetryClock;
  readonly #sends = new RunningCalls();
  readonly #relays = new RunningCalls();
  readonly #relayGraceMs: number;
  readonly #relayPauseMs: number;
  readonly #keepAliveMs: number;
  readonly #uploadPace: BodyPace;
  #closing: Promise<void> | undefined;

  constructor(
    private readonly policy: EgressPolicy,
    options: UpstreamClientOptions,
  ) {
    this.#clock = { now: options.now ?? Date.now, random: options.random ?? Math.random };
    this.#relayGraceMs = options.relayGraceMs ?? DEFAULT_RELAY_GRACE_MS;
    this.#relayPauseMs = options.relayPauseMs ?? DEFAULT_RELAY_PAUSE_MS;
    this.#keepAliveMs = options.keepAliveMs ?? DEFAULT_KEEP_ALIVE_MS;
    const silenceMs = options.uploadSilenceMs ?? DEFAULT_UPLOAD_SILENCE_MS;
    this.#uploadPace = { silenceMs, leastBytes: LEAST_UPLOAD_BYTES };
    const connect = guardedConnector(policy, options);
    const maxOrigins = options.maxOrigins ?? DEFAULT_MAX_ORIGINS;
    const open = (origin: string, connections: number): Pool =>
      openPool(origin, { ...CONNECTION_OPTIONS, connect, connections });
    const { connectionsPerOrigin, relaysPerOrigin = connectionsPerOrigin } = options;
    this.#pools = new OriginPools({ maxOrigins, open, connectionsPerOrigin });
    this.#relayPools = new OriginPools({ maxOrigins, open, connectionsPerOrigin: relaysPerOrigin });
  }

  async send(call: UpstreamCall): Promise<UpstreamAnswer> {
    if (this.#closing) throw closed();
    this.#sends.begin();
    const limits = new CallDeadline(call);
    const plan = { limits, maxBufferedBytes: call.maxResponseBytes };
    try {
      const sender = new PooledSender(this.policy, this.#pools, call, plan);
      const { status, headers, body = NO_BODY } = await sendWithRetries(call, limits, this.#clock, sender);
      return { status, headers, body };
    } finally {
      limits.dispose();
      this.#sends.end();
    }
  }

  async relay(call: UpstreamRelayCall): Promise<RelayedAnswer> {
    this.#relays.begin();
    const { idleTimeoutMs, caller, signer, attemptsMade, observers } = call;
    const { method, url, headers, body } = call.request;
    // Created first, so that the source always has a listener.
    const upload = body instanceof Readable ? new UploadBody(body, this.#uploadPace) : undefined;
    const retry = upload ? 'never' : (call.retry ?? 'never');
    const awaitsFirstByte = retry !== 'never';
    const limits = new CallDeadline({ timeoutMs: idleTimeoutMs, caller }, awaitsFirstByte ? 'call' : 'silence');
    if (call.maxTotalMs !== undefined) limits.endAfter(call.maxTotalMs);
    const plan = { limits, maxBufferedBytes: call.maxBufferedBytes, onHead: this.#sinkOf(call), awaitsFirstByte };
    try {
      if (this.#closing) throw closed();
      if (upload && signer) throw new GatewayError('provider_not_supported', { reason: UNSIGNABLE });
      const request = { method, url, headers, body: Buffer.isBuffer(body) ? body : undefined };
      const sender = new PooledSender(this.policy, this.#relayPools, call, plan, upload);
      const repeatable = { request, retry, attemptsMade, signer, observers };
      return await sendWithRetries(repeatable, limits, this.#clock, sender);
    } catch (error) {
      // The rest will not be sent, so the streams that feed the upload are destroyed.
      if (error instanceof UpstreamFailure && error.kind === 'caller_gone') upload?.abandonSource();
      throw error;
    } finally {
      limits.dispose();
      upload?.destroy();
      this.#relays.end();
    }
  }

  /** Counts whole and relayed calls together. */
  counts(): ConnectionCounts {
    const [sent, relayed] = [this.#pools.counts(), this.#relayPools.counts()];
    return {
      in_use: sent.in_use + relayed.in_use,
      waiting: sent.waiting + relayed.waiting,
      full_origins: sent.full_origins + relayed.full_origins,
    };
  }

  /**
   * Refuses new calls, lets the running ones finish, then closes all connections. Sends end at their deadlines. Relayed
   * calls may last for hours, and are cut off after their grace period.
   */
  close(): Promise<void> {
    this.#closing ??= this.#drain();
    return this.#closing;
  }

  #sinkOf({
    sinkFor,
    filter,
    eventIdleTimeoutMs,
    eventFraming,
    idleTimeoutMs,
  }: UpstreamRelayCall): ExchangePlan['onHead'] {
    const pauseMs = Math.max(idleTimeoutMs, this.#relayPauseMs);
    return (head) => {
      // A redirect fails the exchange, and none of it is forwarded.
      const stream = isRedirect(head) ? undefined : sinkFor(head);
      if (stream === undefined) return undefined;
      if (eventIdleTimeoutMs !== undefined) {
        const times = { pauseMs, idleMs: eventIdleTimeoutMs, keepAliveMs: this.#keepAliveMs };
        return new EventSink(stream, filter, times, eventFraming);
      }
      return { stream, filter, pauseMs, idleMs: idleTimeoutMs };
    };
  }

  async #drain(): Promise<void> {
    await Promise.all([this.#sends.idle(), this.#relays.idle(this.#relayGraceMs)]);
    await Promise.all([this.#pools.close(), this.#relayPools.close()]);
  }
}

function closed(): UpstreamFailure {
  return new UpstreamFailure('connect', 'the gateway is shutting down');
}

/** Sends the attempts of one call over the pools. */
class PooledSender implements AttemptSender {
  constructor(
    private readonly policy: EgressPolicy,
    private readonly pools: OriginPools,
    private readonly call: Pick<UpstreamCall, 'holder'> & { readonly request: Pick<UpstreamRequest, 'url'> },
    private readonly plan: ExchangePlan,
    private readonly upload?: UploadBody,
  ) {}

  connect(): MaybePromise<ConnectionShare | undefined> {
    const { url } = this.call.request;
    // `send` throws the refusal, so that it is the outcome of an attempt.
    if (this.refusalOf(url) !== undefined) return undefined;
    const gate = this.pools.at(url.origin);
    const share = gate.shareOf(this.call.holder);
    return gate.tryEnter(share) ? share : this.wait(gate, share);
  }

  send(request: UpstreamRequest, connection: ConnectionShare | undefined): Promise<RelayedAnswer> {
    if (connection === undefined) throw this.refusalOf(request.url);
    return new StreamExchange(wireRequest(request, this.upload), this.plan, connection).run(connection.gate.pool);
  }

  private async wait(gate: ConnectionGate, share: ConnectionShare): Promise<ConnectionShare> {
    const { limits } = this.plan;
    const { host } = this.call.request.url;
    const leastMs = leastLeftMs(limits);
    await gate.wait(share, limits, host);
    if (limits.remainingMs >= leastMs) return share;
    share.release();
    throw tooLate(host);
  }

  private refusalOf(url: URL): unknown {
    try {
      this.policy.checkUrl(url);
      return undefined;
    } catch (error) {
      return toExchangeError(error, 'unsent', url.host);
    }
  }
}
