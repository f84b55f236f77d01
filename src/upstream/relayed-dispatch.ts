import type { Writable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { AnswerBuffer } from './answer-buffer.js';
import type { CallDeadline } from './call-deadline.js';
import { EventBoundary } from './event-boundary.js';
import { Exchange } from './exchange.js';
import { RelayOptions } from './relay-pool.js';
import { UploadBody } from './upload-body.js';
import {
  UpstreamFailure,
  type UpstreamHead,
  type UpstreamRelayCall,
  type RelayedAnswer,
  type UpstreamStreamRequest,
} from './upstream.types.js';
import { wireRequest } from './wire-request.js';

export interface RelayedRequest extends Omit<UpstreamStreamRequest, 'body'> {
  readonly body: Buffer | UploadBody | undefined;
}

/** What an exchange needs of its call. */
type RelayedCall = Pick<UpstreamRelayCall, 'sinkFor' | 'maxBufferedBytes' | 'eventIdleTimeoutMs'> & {
  /** Longest time in which the sink may take nothing. */
  readonly pauseMs: number;
};

/**
 * One exchange whose bodies pass through as they come, each at the pace of its receiver. `limits` is told of every
 * byte that moves, and ends the exchange in both directions.
 */
export function dispatchRelayed(
  dispatcher: Dispatcher,
  request: RelayedRequest,
  call: RelayedCall,
  limits: CallDeadline,
): Promise<RelayedAnswer> {
  return new Promise((resolve, reject) => {
    const options = new RelayOptions(wireRequest(request, request.body));
    const upload = request.body instanceof UploadBody ? request.body : undefined;
    const exchange = new RelayedExchange(request.url.host, options, upload, call, limits, resolve, reject);
    upload?.whenMoved(() => limits.restart());
    upload?.on('error', (error) => exchange.abandon(error));
    if (upload?.errored) exchange.abandon(upload.errored);
    limits.listen((failure) => exchange.abandon(failure));
    if (!exchange.settled) dispatcher.dispatch(options, exchange);
  });
}

class RelayedExchange extends Exchange {
  #head: UpstreamHead = { status: 0, headers: {} };
  #controller: Dispatcher.DispatchController | undefined;
  #sink: Writable | undefined;
  /** Of a sink that takes events. */
  #boundary: EventBoundary | undefined;
  #received = false;
  readonly #buffer: AnswerBuffer;

  constructor(
    host: string,
    private readonly options: RelayOptions,
    private readonly upload: UploadBody | undefined,
    private readonly call: RelayedCall,
    limits: CallDeadline,
    private readonly resolve: (relayed: RelayedAnswer) => void,
    reject: (error: unknown) => void,
  ) {
    super(host, limits, reject);
    options.exchange = this;
    this.#buffer = new AnswerBuffer(host, call.maxBufferedBytes);
  }

  override onRequestStart(controller: Dispatcher.DispatchController): void {
    super.onRequestStart(controller);
    this.#controller = controller;
    this.options.connection?.begin(controller);
  }

  protected override takeHead(head: UpstreamHead): void {
    this.limits.restart();
    this.#head = head;
    // RFC 9112, section 9.5: who has refused the request wants no more of it.
    if (head.status >= 400) this.upload?.stop();
    try {
      this.#sink = this.call.sinkFor(head);
    } catch (error) {
      this.abandon(error instanceof Error ? error : new Error('sinkFor failed', { cause: error }));
      return;
    }
    if (this.#sink) {
      this.#awaitEvents(this.call.eventIdleTimeoutMs);
      this.#listenTo(this.#sink);
      return;
    }
    const failure = this.#buffer.checkHead(head.headers);
    if (failure) this.abandon(failure);
  }

  protected override takeChunk(chunk: Buffer): void {
    this.limits.restart();
    if (this.#sink) {
      this.#boundary?.push(chunk);
      if (!this.#sink.write(chunk)) this.#waitForSink();
      return;
    }
    const failure = this.#buffer.add(chunk);
    if (failure) this.abandon(failure);
  }

  protected override takeEnd(): void {
    this.#received = true;
    if (this.#sink) {
      this.limits.waitForClient(this.call.pauseMs);
      this.#sink.end();
    } else {
      this.#succeed(this.#buffer.join());
    }
  }

  protected override fail(error: unknown): void {
    super.fail(error);
    if (this.#boundary?.isHere && error instanceof UpstreamFailure && error.kind === 'timeout') return;
    // Never `end`: the client must be able to tell that this is not the whole answer.
    this.#sink?.destroy();
  }

  protected override settle(): void {
    super.settle();
    this.options.connection?.end(this.#controller);
  }

  #awaitEvents(idleTimeoutMs: number | undefined): void {
    if (idleTimeoutMs === undefined) return;
    this.#boundary = new EventBoundary();
    this.limits.waitForUpstream(idleTimeoutMs);
  }

  #waitForSink(): void {
    this.options.connection?.pause();
    this.limits.waitForClient(this.call.pauseMs);
  }

  #listenTo(sink: Writable): void {
    const gone = (cause?: Error): void => {
      this.abandon(new UpstreamFailure('caller_gone', 'the caller left in the middle of the answer', { cause }));
    };
    // These stay when the exchange is over: a connection may fail later still, and nobody else may be listening.
    sink.on('error', gone);
    sink.on('close', () => gone());
    sink.on('drain', () => {
      this.limits.waitForUpstream();
      this.#controller?.resume();
    });
    sink.on('finish', () => (this.#received ? this.#succeed(undefined) : gone()));
    if (sink.destroyed) gone();
  }

  #succeed(body: Buffer | undefined): void {
    if (this.settled) return;
    this.settle();
    this.resolve({ ...this.#head, body });
  }
}
