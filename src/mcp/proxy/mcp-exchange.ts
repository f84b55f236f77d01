import type { ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import type { GatewayError } from '../../common/errors/gateway.error.js';
import { endInTime } from '../../common/http/end-in-time.js';
import { TickBatcher } from '../../common/tick-batcher.js';
import { toExchangeError, type ExchangeStage } from '../../upstream/exchange-failure.js';
import type { RelayOptions } from '../../upstream/relay-pool.js';
import { UpstreamFailure, type UpstreamHead, type UpstreamHeaders } from '../../upstream/upstream.types.js';
import type { BodyFilter, BodyWatcher, McpForward, McpHooks } from './mcp-proxy.types.js';
import { clientHead, isEventStream, isPlain } from './response-head.js';

const NO_HOOKS: McpHooks = {};
/** TCP looks after a silent client this often, so that one that is gone without a word does not hold its stream for ever. */
const CLIENT_PROBE_MS = 30_000;

/** Answers that come in one turn of the event loop go out together. */
const turns = new TickBatcher();

/** What an exchange has seen of the upstream's answer. */
export interface SeenAnswer {
  /** Whether the request went on its way: from then on the server may have acted on it. */
  wasSent: boolean;
  status: number | undefined;
  headAt: number | undefined;
  bytes: number;
}

/**
 * The handler that undici calls for one MCP request: the answer goes to the client byte by byte, at the client's pace.
 * `done` is called once: without an error when the client has the whole answer.
 */
export class McpExchange implements Dispatcher.DispatchHandler {
  readonly seen: SeenAnswer = { wasSent: false, status: undefined, headAt: undefined, bytes: 0 };
  #settled = false;
  #stage: ExchangeStage = 'unsent';
  #received = false;
  #isHeldBack = false;
  /** Until the client has taken what was written. */
  #isPaused = false;
  #controller: Dispatcher.DispatchController | undefined;
  #filter: BodyFilter | undefined;
  #watcher: BodyWatcher | undefined;
  /** Of the wait for the head, then of the wait for the next bytes; undefined where nothing bounds it. */
  #timer: NodeJS.Timeout | undefined;
  #onStreamOver: (() => void) | undefined;
  /** What was written of the answer's head: name, value, name, value …. */
  #head: readonly string[] = [];
  readonly #response: ServerResponse;
  readonly #hooks: McpHooks;

  constructor(
    private readonly call: McpForward,
    private readonly options: RelayOptions,
    /** How long an answer that is no stream may stand still. */
    private readonly idleMs: number,
    private readonly done: (error?: unknown) => void,
  ) {
    options.exchange = this;
    this.#response = call.response;
    this.#hooks = call.hooks ?? NO_HOOKS;
  }

  get settled(): boolean {
    return this.#settled;
  }

  /** `firstByteMs` bounds the wait for the head. */
  start(dispatcher: Dispatcher, firstByteMs: number | undefined): void {
    this.#response.on('close', this.#onClose).on('finish', this.#onFinish);
    // The connection may fail later still, and nobody else may be listening.
    this.#response.on('error', () => undefined);
    if (firstByteMs !== undefined) {
      const failure = (): UpstreamFailure => new UpstreamFailure('timeout', `no answer within ${firstByteMs} ms`);
      this.#timer = setTimeout(() => this.abandon(failure()), firstByteMs);
    }
    if (this.call.request.method === 'GET') this.#openStream();
    if (this.#response.destroyed) this.#onClose();
    if (!this.#settled) this.#guard(() => void dispatcher.dispatch(this.options, this));
  }

  /** Gives up: what is under way is cut off on both sides, what still waits for a connection will not be sent. */
  abandon(failure: unknown): void {
    if (this.#settled) return;
    this.#fail(failure);
    this.#controller?.abort(failure instanceof Error ? failure : new Error('the exchange was given up'));
  }

  /** Ends a stream that may not go on: nothing of it is lost that has come, so that the client need not take it for broken. */
  finish(reason: GatewayError): void {
    const response = this.#response;
    // Short of what was announced, it would not be over for the client.
    if (!response.headersSent || response.hasHeader('content-length')) return this.abandon(reason);
    if (this.#settled) return;
    this.#settle(reason);
    endInTime(response);
    this.#controller?.abort(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Throwing drops the request and keeps the connection for the next one; `controller.abort` would close it.
    if (this.#settled) throw new Error('the exchange ended while it waited for a connection');
    this.#controller = controller;
    this.#stage = 'sent';
    this.seen.wasSent = true;
    this.options.connection?.begin(controller);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: UpstreamHeaders): void {
    if (this.#settled || status < 200) return;
    this.#stage = 'answering';
    this.#stopTimer();
    this.seen.status = status;
    this.seen.headAt = performance.now();
    this.#guard(() => this.#begin({ status, headers }));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return;
    this.seen.bytes += chunk.length;
    this.#timer?.refresh();
    if (!this.#filter) this.#write(chunk);
    else this.#guard(() => this.#write(this.#filter?.push(chunk)));
    this.#watcher?.push(chunk);
  }

  onResponseEnd(): void {
    if (this.#settled) return;
    this.#received = true;
    this.#holdBack();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.#settled) this.#fail(toExchangeError(error, this.#stage, this.call.target.url.host));
  }

  #begin(head: UpstreamHead): void {
    this.#hooks.onHead?.(head);
    this.#watcher = this.#hooks.bodyWatcher?.(head);
    this.#filter = this.#hooks.bodyFilter?.(head);
    if (this.#filter && !isPlain(head)) {
      throw new UpstreamFailure('incomplete', 'the MCP server compressed an answer that has to be read');
    }
    const { status, headers, flush } = clientHead(head, this.#hooks, this.#filter !== undefined);
    const response = this.#response;
    this.#head = headers;
    response.statusCode = status;
    for (let at = 0; at + 1 < headers.length; at += 2) response.setHeader(headers[at] ?? '', headers[at + 1] ?? '');
    if (flush) response.flushHeaders();
    if (!isEventStream(head)) this.#timer = setTimeout(this.#onIdle, this.idleMs);
    else if (this.call.request.method !== 'GET') this.#openStream();
  }

  #openStream(): void {
    this.call.request.socket.setKeepAlive(true, CLIENT_PROBE_MS);
    this.#onStreamOver = this.#hooks.onStream?.((reason) => this.finish(reason));
  }

  #write(bytes: Buffer | undefined): void {
    if (!bytes || bytes.length === 0) return;
    this.#holdBack();
    if (this.#response.write(bytes)) return;
    this.options.connection?.pause();
    if (!this.#isPaused) this.#response.once('drain', this.#onDrain);
    this.#isPaused = true;
    // Held back, it would need a turn for every 16 KiB, however fast the client takes them.
    this.#letGo();
  }

  /** Until the end of the turn: what comes in it, its end included, goes out in one piece. */
  #holdBack(): void {
    if (this.#isHeldBack) return;
    this.#isHeldBack = true;
    this.#response.cork();
    turns.add(this.#letGo);
  }

  /** What a hook throws ends the exchange; undici would take it for a fault of its own. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.abandon(error);
    }
  }

  #fail(error: unknown): void {
    const begun = this.#response.headersSent;
    this.#settle(error);
    // Never `end`: the client must be able to tell that this is not the whole answer.
    if (begun) return void this.#response.destroy();
    // An error takes the answer's place: an encoding, a session or a length of the answer would be said of the error.
    for (let at = 0; at < this.#head.length; at += 2) this.#response.removeHeader(this.#head[at] ?? '');
  }

  #settle(error?: unknown): void {
    this.#settled = true;
    this.#stopTimer();
    this.options.connection?.end(this.#controller);
    this.#watcher?.end();
    this.#onStreamOver?.();
    this.done(error);
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    // Else every chunk of a stream would put it, dead as it is, among the timers again.
    this.#timer = undefined;
  }

  readonly #letGo = (): void => {
    const isHeldBack = this.#isHeldBack;
    this.#isHeldBack = false;
    if (this.#settled || !isHeldBack) return;
    if (this.#received) this.#guard(() => void this.#response.end(this.#filter?.end()));
    else this.#response.uncork();
  };

  readonly #onClose = (): void => {
    // Most often it is over, and an error would be made, with its stack, for nobody.
    if (this.#settled) return;
    this.abandon(new UpstreamFailure('caller_gone', 'the client left before the whole answer'));
  };

  readonly #onIdle = (): void => {
    const isClients = this.#isPaused || this.#received;
    const what = isClients ? 'the client took nothing for' : 'the answer stood still for';
    this.abandon(new UpstreamFailure(isClients ? 'caller_gone' : 'timeout', `${what} ${this.idleMs} ms`));
  };

  readonly #onDrain = (): void => {
    this.#isPaused = false;
    this.#timer?.refresh();
    if (!this.#settled) this.#controller?.resume();
  };

  readonly #onFinish = (): void => {
    if (this.#received && !this.#settled) this.#settle();
  };
}
