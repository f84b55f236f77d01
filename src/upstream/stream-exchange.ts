import { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { BodyBuffer } from '../common/http/body-buffer.js';
import { TickBatcher } from '../common/tick-batcher.js';
import { BodyDecoder, decodedHead } from './body-decoder.js';
import type { CallDeadline } from './call-deadline.js';
import type { Connecting, GuardedConnection } from './exchange-client.js';
import { toExchangeError, type ExchangeStage } from './exchange-failure.js';
import type { UploadBody } from './upload-body.js';
import {
  type BodyFilter,
  UpstreamFailure,
  type RelayedAnswer,
  type UpstreamHead,
  type UpstreamHeaders,
  type UpstreamRequest,
  firstHeader,
} from './upstream.types.js';

/**
 * Share of its time that must be left when a request gets a connection. Requests that waited behind a provider that hangs
 * would otherwise be sent in their last moments, for an answer that comes too late and may have to be paid.
 */
const LEAST_LEFT = 0.1;

/** Time that must be left of a call when its request gets a connection. */
export function leastLeftMs({ boundsSilence, remainingMs }: CallDeadline): number {
  return boundsSilence ? -Infinity : remainingMs * LEAST_LEFT;
}

export function tooLate(host: string): UpstreamFailure {
  return new UpstreamFailure('timeout', `${host} had no connection in time`, { wasSent: false });
}

/** Answers that come in one turn of the event loop go on together. */
const turns = new TickBatcher();

/** Sees a body pass. Must not throw, nor keep the body waiting. */
export interface BodyWatcher {
  push(chunk: Buffer): void;
  /** Nothing more comes, whether the body is whole or not. */
  end(): void;
}

/** A stream that takes the body of an answer as it comes. It belongs to the exchange from then on. */
export interface AnswerSink {
  readonly stream: Writable;
  /** What it returns is written instead of what came. */
  readonly filter?: BodyFilter | undefined;
  /** Gets the bytes as they came, behind those that went on. */
  readonly watcher?: BodyWatcher | undefined;
  /** Longest silence of the other side from now on, in milliseconds; by default what it was. Infinity: no bound. */
  readonly idleMs?: number | undefined;
  /** Longest time in milliseconds in which the stream takes nothing. */
  readonly pauseMs: number;
  /** Whether a failure leaves the stream to its owner. By default it is destroyed: half an answer must not look like the whole. */
  readonly isLeftOpen?: ((error: unknown) => boolean) | undefined;
  /** Ends the stream where it stands; false when it cannot be ended without looking broken. */
  readonly endEarly?: (() => boolean) | undefined;
}

export interface ExchangePlan {
  /** Ends the exchange early, in both directions. The caller disposes of it. */
  readonly limits: CallDeadline;
  /** Bound for an answer without a sink. */
  readonly maxBufferedBytes: number;
  /** Called once, when the head has come. Without a sink the body is held in memory. What it throws ends the exchange. */
  readonly onHead?: ((head: UpstreamHead) => AnswerSink | undefined) | undefined;
  /** Whether `onHead` waits for the first byte of the body: until then, the call can be made again. */
  readonly awaitsFirstByte?: boolean | undefined;
}

/** One request in undici's words. */
export interface WireRequest extends Dispatcher.DispatchOptions {
  /** For messages. */
  readonly host: string;
  readonly upload?: UploadBody | undefined;
  exchange?: Connecting | undefined;
  connection?: GuardedConnection | undefined;
}

/** A request that is sent as it is; `upload` is sent instead of its body. */
export function wireRequest({ method, url, headers, body }: UpstreamRequest, upload?: UploadBody): WireRequest {
  // Answers are read or passed on as they come, so compression would only have to be undone, as it is where it comes.
  const wire = ['accept-encoding', 'identity'];
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    // undici takes a Host header for the TLS server name as well; both always come from the URL that was checked.
    if (value !== undefined && name !== 'host' && name !== 'accept-encoding') wire.push(name, value);
  }
  return {
    host: url.host,
    path: url.pathname + url.search,
    method,
    headers: wire,
    body: upload ?? body ?? null,
    upload,
    exchange: undefined,
    connection: undefined,
  };
}

/** What an exchange has seen of the answer. */
export interface SeenAnswer {
  /** Whether the request went on its way: from then on the other side may have acted on it. */
  wasSent: boolean;
  head: UpstreamHead | undefined;
  /** By `performance.now()`. */
  headAt: number | undefined;
  /** Of the body, so far. */
  bytes: number;
}

/**
 * The handler that undici calls for one request. The answer is held in memory, or passes to a sink at the pace of its
 * receiver. It settles once; whatever undici reports after that is ignored.
 */
export class StreamExchange implements Dispatcher.DispatchHandler, Connecting {
  settled = false;
  readonly seen: SeenAnswer = { wasSent: false, head: undefined, headAt: undefined, bytes: 0 };
  private stage: ExchangeStage = 'unsent';
  private controller: Dispatcher.DispatchController | undefined;
  private readonly buffer = new BodyBuffer();
  private sink: AnswerSink | undefined;
  /** Of an answer that is compressed although that was not asked for. */
  private decoder: BodyDecoder | undefined;
  /** Until the decoder takes more. */
  private isDecoderFull = false;
  /** The head was shown to `onHead`. */
  private isOpen = false;
  private isReceived = false;
  /** Until the sink has taken what was written. */
  private isPaused = false;
  /** Until the end of the turn of the event loop. */
  private isCorked = false;
  /** What is corked meanwhile. */
  private held: Writable | null = null;
  private readonly leastLeftMs: number;
  private resolve: (answer: RelayedAnswer) => void = () => undefined;
  private reject: (error: unknown) => void = () => undefined;

  /** @param onSettled called once, when the exchange is over */
  constructor(
    private readonly request: WireRequest,
    private readonly plan: ExchangePlan,
    /** Released once, when the exchange is over. */
    private readonly connection?: { release(): void },
  ) {
    request.exchange = this;
    this.leastLeftMs = leastLeftMs(plan.limits);
  }

  /** Resolves when the whole answer is with the sink or in memory. */
  run(dispatcher: Dispatcher): Promise<RelayedAnswer> {
    return new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
      const [{ upload }, { limits }] = [this.request, this.plan];
      // The upload bounds the wait for its client itself.
      upload?.whenAwaited((isAwaited) => (isAwaited ? limits.waitForClient(Infinity) : limits.waitForUpstream()));
      upload?.on('error', (error) => this.abandon(error));
      if (upload?.errored) this.abandon(upload.errored);
      limits.listen((failure) => this.abandon(failure));
      if (this.settled) return;
      try {
        dispatcher.dispatch(this.request, this);
      } catch (error) {
        this.abandon(error);
      }
    });
  }

  /** Gives up: what is in flight is cut off on both sides, what still waits for a connection will not be sent. */
  abandon(failure: unknown): void {
    if (this.settled) return;
    this.fail(this.stage === 'unsent' && failure instanceof UpstreamFailure ? failure.unsent() : failure);
    this.controller?.abort(failure instanceof Error ? failure : new Error('the exchange was given up'));
  }

  /** Ends a stream that may not go on: nothing that has come is lost, so the receiver need not take it for broken. */
  finish(reason: Error): void {
    if (this.settled) return;
    if (this.sink?.endEarly?.() !== true) return this.abandon(reason);
    this.settle();
    this.reject(reason);
    this.controller?.abort(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (!this.settled && this.plan.limits.remainingMs < this.leastLeftMs) {
      this.fail(tooLate(this.request.host));
    }
    // Throwing drops the request and keeps the connection for the next one; `controller.abort` would close it.
    if (this.settled) throw new Error('the exchange ended while it waited for a connection');
    this.controller = controller;
    this.stage = 'sent';
    this.seen.wasSent = true;
    this.request.connection?.begin(controller);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: UpstreamHeaders): void {
    if (this.settled || status < 200) return;
    this.stage = 'answering';
    this.seen.head = headers['content-encoding'] === undefined ? { status, headers } : this.decode({ status, headers });
    this.seen.headAt = performance.now();
    // RFC 9112, section 9.5: a server that has refused the request wants no more of it.
    if (status >= 400) this.request.upload?.stop();
    if (this.plan.awaitsFirstByte !== true) this.open(this.seen.head);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { head } = this.seen;
    if (!this.settled && !this.isOpen && head) this.open(head);
    if (this.settled) return;
    this.plan.limits.touch();
    if (!this.decoder) return this.take(chunk);
    this.isDecoderFull = !this.decoder.write(chunk);
    if (this.isDecoderFull) this.request.connection?.pause();
  }

  private take(chunk: Buffer): void {
    if (this.settled) return;
    this.seen.bytes += chunk.length;
    const sink = this.sink;
    if (!sink) {
      if (this.buffer.size + chunk.length > this.plan.maxBufferedBytes) this.abandon(this.tooLarge());
      else this.buffer.push(chunk);
      return;
    }
    if (!sink.filter) this.write(sink, chunk);
    else this.guard(() => this.write(sink, sink.filter?.push(chunk)));
    sink.watcher?.push(chunk);
  }

  onResponseEnd(): void {
    const { head } = this.seen;
    if (!this.settled && !this.isOpen && head) this.open(head);
    if (this.settled || !head) return;
    if (this.decoder) this.decoder.end();
    else this.receive(head);
  }

  /** The whole body is here, decoded. */
  private receive(head: UpstreamHead): void {
    if (this.settled) return;
    this.isReceived = true;
    if (this.sink) {
      this.plan.limits.waitForClient(this.sink.pauseMs);
      return this.cork(this.sink);
    }
    this.settle();
    // Written out: a spread costs more than the rest of this method.
    const answer = { status: head.status, headers: head.headers, body: this.buffer.take() };
    turns.add(() => this.resolve(answer));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.settled) this.fail(toExchangeError(error, this.stage, this.request.host));
  }

  /** The head as it is for a decoded body. */
  private decode(head: UpstreamHead): UpstreamHead {
    const decoded = decodedHead(head);
    this.decoder = BodyDecoder.for(head, this.request.host, {
      data: (chunk) => this.take(chunk),
      end: () => this.receive(decoded),
      fail: (failure) => this.abandon(failure),
      drain: () => {
        this.isDecoderFull = false;
        if (!this.isPaused && !this.settled) this.controller?.resume();
      },
    });
    return this.decoder ? decoded : head;
  }

  private open(head: UpstreamHead): void {
    this.isOpen = true;
    try {
      const sink = this.plan.onHead?.(head);
      // Neither followed nor passed on: it would take credentials elsewhere.
      if (isRedirect(head)) {
        throw new UpstreamFailure('redirect', `${this.request.host} redirects (${head.status})`);
      }
      this.sink = sink;
      if (!sink) {
        this.plan.limits.touch();
        if (Number(firstHeader(head.headers, 'content-length') ?? 0) > this.plan.maxBufferedBytes)
          throw this.tooLarge();
        return;
      }
      if (sink.idleMs === undefined) this.plan.limits.touch();
      else this.plan.limits.waitForUpstream(sink.idleMs);
      // These stay when the exchange is over: a connection may fail later still, and nothing else may be listening.
      sink.stream.on('error', this.onGone).on('close', this.onGone).on('drain', this.onDrain);
      sink.stream.on('finish', () => (this.isReceived ? this.succeed(head) : this.onGone()));
      if (sink.stream.destroyed) this.onGone();
    } catch (error) {
      // An exception in a hook ends the exchange; undici would take it for a fault of its own.
      this.abandon(error);
    }
  }

  private tooLarge(): UpstreamFailure {
    return new UpstreamFailure('too_large', `${this.request.host} sent more than ${this.plan.maxBufferedBytes} bytes`);
  }

  private write(sink: AnswerSink, bytes: Buffer | undefined): void {
    if (!bytes || bytes.length === 0) return;
    this.cork(sink);
    if (sink.stream.write(bytes)) return;
    this.request.connection?.pause();
    this.decoder?.pause();
    if (!this.isPaused) this.plan.limits.waitForClient(sink.pauseMs);
    this.isPaused = true;
    // Held back, it would need a turn for every 16 KiB, however fast the receiver takes them.
    this.uncork();
  }

  /** Until the end of the turn: what comes in it, its end included, goes out in one piece. */
  private cork(sink: AnswerSink): void {
    if (this.isCorked) return;
    this.isCorked = true;
    this.held = heldFor(sink.stream);
    this.held?.cork();
    turns.add(this.uncork);
  }

  private readonly uncork = (): void => {
    const sink = this.sink;
    if (!this.isCorked || !sink) return;
    this.isCorked = false;
    if (this.isReceived && !this.settled) this.guard(() => void sink.stream.end(sink.filter?.end()));
    else this.held?.uncork();
    // Its filter has failed at the end: what came before goes out all the same.
    if (this.settled) this.held?.uncork();
  };

  /** An exception in a hook ends the exchange; undici would take it for a fault of its own. */
  private guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.abandon(error);
    }
  }

  private succeed(head: UpstreamHead): void {
    if (this.settled) return;
    this.settle();
    this.resolve({ status: head.status, headers: head.headers, body: undefined });
  }

  private fail(error: unknown): void {
    this.settle();
    const { head } = this.seen;
    const sink = this.sink;
    this.reject(head && error instanceof UpstreamFailure ? error.after(head, sink !== undefined) : error);
    // Never `end`: the receiver must notice that the answer is incomplete.
    if (sink?.isLeftOpen?.(error) === true) this.uncork();
    else sink?.stream.destroy();
  }

  private settle(): void {
    this.settled = true;
    this.plan.limits.unlisten();
    this.request.connection?.end(this.controller);
    this.sink?.watcher?.end();
    this.decoder?.destroy();
    this.connection?.release();
  }

  private readonly onGone = (cause?: Error): void => {
    // Most often the exchange is over, and an error would be made, with its stack, for nothing.
    if (this.settled) return;
    this.abandon(new UpstreamFailure('caller_gone', 'the caller left in the middle of the answer', { cause }));
  };

  private readonly onDrain = (): void => {
    // What the sink has taken may be of its own making.
    if (!this.isPaused) return;
    this.isPaused = false;
    if (this.settled) return;
    if (!this.isReceived) this.plan.limits.waitForUpstream();
    this.decoder?.resume();
    if (!this.isDecoderFull) this.controller?.resume();
  };
}

/**
 * What to cork for a stream: of an HTTP answer its socket, if it has one by now. An answer that is corked itself says that it is
 * full and never that it has drained where the socket takes all at once, and Node 24 writes its end before what it holds back.
 */
function heldFor(stream: Writable): Writable | null {
  return stream instanceof ServerResponse ? stream.socket : stream;
}

export function isRedirect({ status }: UpstreamHead): boolean {
  return status >= 300 && status < 400;
}
