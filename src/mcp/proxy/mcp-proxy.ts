import { setTimeout as sleep } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { CLIENT_CLOSED_REQUEST, HttpClientConnection } from '../../common/http/client-connection.js';
import { unreadBodies } from '../../common/http/unread-body.js';
import type { EgressPolicy } from '../../upstream/egress/egress-policy.js';
import type { GuardedConnectorOptions } from '../../upstream/egress/guarded-connector.js';
import { RunningCalls } from '../../common/running-calls.js';
import { CallDeadline } from '../../upstream/call-deadline.js';
import { type SeenAnswer, StreamExchange, type WireRequest } from '../../upstream/stream-exchange.js';
import { UpstreamFailure } from '../../upstream/upstream.types.js';
import { sendRpcError } from '../mcp-error.js';
import { McpAnswer } from './mcp-answer.js';
import { type Lease, McpDispatchers } from './mcp-dispatchers.js';
import { toMcpFailure } from './mcp-failure.js';
import type { McpForward, McpOutcome, McpTarget } from './mcp-proxy.types.js';
import { OpenLimiter } from './open-limiter.js';

const DEFAULT_CONNECT_TIMEOUT_MS = 5_000;
const DEFAULT_STREAMS_PER_CALLER = 16;
const DEFAULT_CALLS_PER_CALLER = 512;
const DEFAULT_ANSWER_IDLE_MS = 300_000;
/** Pause between a failed connection and the second try. */
const RETRY_PAUSE_MS = 100;
const STREAM_RETRY_SECONDS = '10';
const CALL_RETRY_SECONDS = '1';

const METHODS: Readonly<Record<McpTarget['transport'], readonly string[]>> = {
  streamable_http: ['GET', 'POST', 'DELETE'],
  sse: ['GET', 'POST'],
};

export interface McpProxyOptions extends Partial<GuardedConnectorOptions> {
  /** Most open GET streams of one caller at one server, in this process; default 16. */
  readonly streamsPerCaller?: number;
  /** Most calls of one caller in flight at one server, in this process, streamed answers included; default 512. */
  readonly callsPerCaller?: number;
  /**
   * Longest pause of an answer that is not a stream, after its head, whether the server or the client is slow; default 5 minutes.
   * The time that the head may take applies when it is longer.
   */
  readonly answerIdleMs?: number;
}

/** Forwards MCP requests to their servers and returns the answers, as bytes: it does not read messages. */
export class McpProxy {
  readonly #dispatchers: McpDispatchers;
  readonly #streamLimiter: OpenLimiter;
  readonly #callLimiter: OpenLimiter;
  readonly #answerIdleMs: number;
  readonly #calls = new RunningCalls();
  readonly #streams = new Set<StreamExchange>();
  #closing: Promise<void> | undefined;
  #isClosed = false;

  constructor(policy: EgressPolicy, options: McpProxyOptions = {}) {
    const connectTimeoutMs = options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS;
    this.#dispatchers = new McpDispatchers(policy, { ...options, connectTimeoutMs });
    this.#streamLimiter = new OpenLimiter(options.streamsPerCaller ?? DEFAULT_STREAMS_PER_CALLER);
    this.#callLimiter = new OpenLimiter(options.callsPerCaller ?? DEFAULT_CALLS_PER_CALLER);
    this.#answerIdleMs = options.answerIdleMs ?? DEFAULT_ANSWER_IDLE_MS;
  }

  /** Always answers the request, and returns the outcome. Does not reject. For all but streams, call `enterCall` first. */
  async forward(call: McpForward): Promise<McpOutcome> {
    const startedAt = performance.now();
    const run = new Run(call);
    try {
      this.#checkMethod(call);
      // A body of another method is read and dropped.
      if (call.body === undefined) {
        unreadBodies.limit(call.request);
        call.request.resume();
      }
      this.#enter(call);
      try {
        await this.#send(call, run);
      } finally {
        this.#leave(call);
      }
      return run.outcome(call, startedAt);
    } catch (thrown) {
      return answerFailure(call, run, startedAt, thrown);
    }
  }

  /** Registers a call that is arriving, so that `close` waits for it. Call the returned function once, when the call is over. */
  expectCall(): () => void {
    this.#calls.begin();
    return () => this.#calls.end();
  }

  /**
   * Counts a call of the caller before its body is read, since bodies are held in memory.
   * Call the returned function once, when the call is over, whatever its outcome.
   * @throws GatewayError `rate_limited` when the caller has too many calls in flight
   */
  enterCall(callerKey: string): () => void {
    if (!this.#callLimiter.enter(callerKey)) throw tooMany('calls in flight', CALL_RETRY_SECONDS);
    return () => this.#callLimiter.leave(callerKey);
  }

  /**
   * Waits at most `graceMs` for the calls in flight, then ends everything that is still open. Streams stay open until
   * then: the server of a call may ask the client for something on a stream.
   */
  close(graceMs: number): Promise<void> {
    this.#closing ??= this.#drain(graceMs);
    return this.#closing;
  }

  #checkMethod({ request, target }: McpForward): void {
    const allowed = METHODS[target.transport];
    if (request.method !== undefined && allowed.includes(request.method)) return;
    throw new GatewayError('method_not_allowed', { headers: { allow: allowed.join(', ') } });
  }

  #enter(call: McpForward): void {
    if (!isStream(call)) {
      if (this.#isClosed) throw shuttingDown();
      return this.#calls.begin();
    }
    if (this.#closing) throw shuttingDown();
    if (!this.#streamLimiter.enter(call.callerKey)) throw tooMany('open streams', STREAM_RETRY_SECONDS);
  }

  #leave(call: McpForward): void {
    if (isStream(call)) this.#streamLimiter.leave(call.callerKey);
    else this.#calls.end();
  }

  async #send(call: McpForward, run: Run): Promise<void> {
    try {
      await this.#dispatch(call, run);
    } catch (error) {
      await this.#recover(call, run, error);
    }
  }

  /** Tries once more: over another connection when none was made, or with renewed headers when the server refused these. */
  async #recover(call: McpForward, run: Run, failure: unknown): Promise<void> {
    let error = failure;
    if (!isStream(call) && !this.#isClosed && isUnsent(error)) {
      await sleep(RETRY_PAUSE_MS);
      try {
        return await this.#dispatch(call, run);
      } catch (again) {
        error = again;
      }
    }
    // A server that refuses the credential has not run the call, so sending it again is safe.
    const isRefusal = error instanceof GatewayError && error.code === 'provider_credential_rejected';
    const headers = isRefusal ? await call.renewHeaders?.() : undefined;
    if (headers === undefined || this.#isClosed) throw error;
    await this.#send({ ...call, headers, renewHeaders: undefined }, run);
  }

  async #dispatch(call: McpForward, run: Run): Promise<void> {
    const { url, timeouts } = call.target;
    const isGet = isStream(call);
    const timeoutMs = isGet ? Infinity : timeouts.firstByteMs;
    const limits = new CallDeadline({ timeoutMs, caller: run.caller }, 'silence');
    let lease: Lease | undefined;
    try {
      const found = isGet ? this.#dispatchers.forStream(url) : this.#dispatchers.forCall(url, call.holder, limits);
      lease = found instanceof Promise ? await found : found;
      await this.#exchange(call, run, limits, lease.dispatcher);
    } finally {
      lease?.release();
      limits.dispose();
    }
  }

  async #exchange(call: McpForward, run: Run, limits: CallDeadline, dispatcher: Dispatcher): Promise<void> {
    const { timeouts } = call.target;
    const isGet = isStream(call);
    // A server may send its head at once, and the rest only after its work.
    const answer = new McpAnswer(call, Math.max(this.#answerIdleMs, timeouts.firstByteMs), (reason) =>
      exchange.finish(reason),
    );
    const exchange = new StreamExchange(wireRequest(call), { limits, maxBufferedBytes: 0, onHead: answer.begin });
    run.seen = exchange.seen;
    try {
      if (isGet) this.#streams.add(exchange);
      if (isGet) answer.openStream();
      await exchange.run(dispatcher);
    } catch (error) {
      answer.withdraw();
      throw error;
    } finally {
      this.#streams.delete(exchange);
      answer.over();
    }
  }

  async #drain(graceMs: number): Promise<void> {
    await this.#calls.idle(graceMs);
    this.#isClosed = true;
    for (const stream of this.#streams) stream.finish(shuttingDown());
    await this.#dispatchers.close();
  }
}

/** The facts that are collected about one request while it is forwarded. */
class Run {
  readonly caller: HttpClientConnection;
  seen: SeenAnswer | undefined;

  constructor({ response }: McpForward) {
    this.caller = new HttpClientConnection(response);
    if (response.destroyed) this.caller.abort();
    // The connection may also fail later, when there is no other listener.
    response.on('error', () => undefined);
  }

  outcome({ response, body }: McpForward, startedAt: number, thrown?: unknown): McpOutcome {
    const hasLeft = thrown !== undefined && isCallerGone(thrown);
    const { seen } = this;
    return {
      status: hasLeft ? CLIENT_CLOSED_REQUEST : response.statusCode,
      wasSent: seen?.wasSent ?? false,
      upstreamStatus: seen?.head?.status,
      error: hasLeft || thrown === undefined ? undefined : toMcpFailure(thrown),
      requestBytes: body?.length ?? 0,
      responseBytes: seen?.bytes ?? 0,
      firstByteMs: seen?.headAt === undefined ? undefined : seen.headAt - startedAt,
    };
  }
}

function answerFailure(call: McpForward, run: Run, startedAt: number, thrown: unknown): McpOutcome {
  const { response } = call;
  if (isCallerGone(thrown)) response.destroy();
  else if (!response.destroyed && !response.writableEnded)
    sendRpcError(response, toMcpFailure(thrown), call.rpcId?.() ?? null);
  return run.outcome(call, startedAt, thrown);
}

function wireRequest({ request, target, headers, body }: McpForward): WireRequest {
  return {
    host: target.url.host,
    path: target.url.pathname + target.url.search,
    method: request.method === 'POST' || request.method === 'DELETE' ? request.method : 'GET',
    headers: [...headers],
    body: body ?? null,
    exchange: undefined,
    connection: undefined,
  };
}

function isStream({ request }: McpForward): boolean {
  return request.method === 'GET';
}

/** No connection was made. */
function isUnsent(error: unknown): boolean {
  return error instanceof UpstreamFailure && error.kind === 'connect';
}

function isCallerGone(thrown: unknown): boolean {
  return thrown instanceof UpstreamFailure && thrown.kind === 'caller_gone';
}

function tooMany(what: string, retrySeconds: string): GatewayError {
  const message = `The caller has too many ${what} at this MCP server.`;
  return new GatewayError('rate_limited', { message, headers: { 'retry-after': retrySeconds } });
}

function shuttingDown(): GatewayError {
  const message = 'The gateway is shutting down.';
  return new GatewayError('store_unavailable', { message, headers: { 'retry-after': '1' } });
}
