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

/** Milliseconds that a call must have left when it gets a connection. */
export function leastLeftMs({ boundsSilence, remainingMs }: CallDeadline): number {
  return boundsSilence ? -Infinity : remainingMs * LEAST_LEFT;
}

export function tooLate(host: string): UpstreamFailure {
  return new UpstreamFailure('timeout', `${host} had no connection in time`, { wasSent: false });
}

/** Answers that arrive in one turn of the event loop are forwarded together. */
const turns = new TickBatcher();

/** Sees a body pass. Must not throw, nor keep the body waiting. */
export interface BodyWatcher {
  push(chunk: Buffer): void;
  /** Called at the end of the body, complete or not. */
  end(): void;
}

/** A stream that receives the body of an answer. It belongs to the exchange from then on. */
export interface AnswerSink {
  readonly stream: Writable;
  /** Its results are written instead of the received bytes. */
  readonly filter?: BodyFilter | undefined;
  /** Gets the received bytes, after they were forwarded. */
  readonly watcher?: BodyWatcher | undefined;
  /** Longest silence of the other side from now on, in milliseconds; Infinity: none. Default: as before. */
  readonly idleMs?: number | undefined;
  /** The longest time in milliseconds for which the stream accepts nothing. */
  readonly pauseMs: number;
  /** Whether it stays open after a failure. By default it is destroyed, so that it never looks complete. */
  readonly isLeftOpen?: ((error: unknown) => boolean) | undefined;
  /** Ends the stream now; returns false when it would look broken. */
  readonly endEarly?: (() => boolean) | undefined;
}

export interface ExchangePlan {
  /** Ends the exchange early, in both directions. The caller disposes of it. */
  readonly limits: CallDeadline;
  /** The largest answer that is held in memory, in bytes, when there is no sink. */
  readonly maxBufferedBytes: number;
  /** Called once with the head. Without a sink, the body is held in memory. Its error ends the exchange. */
  readonly onHead?: ((head: UpstreamHead) => AnswerSink | undefined) | undefined;
  /** Whether `onHead` is called only at the first byte of the body. Until then, the call can be repeated. */
  readonly awaitsFirstByte?: boolean | undefined;
}

/** One request in the form of undici. */
export interface WireRequest extends Dispatcher.DispatchOptions {
  /** The host in error messages. */
  readonly host: string;
  readonly upload?: UploadBody | undefined;
  exchange?: Connecting | undefined;
  connection?: GuardedConnection | undefined;
}

/** The request in the form of undici; `upload` replaces its body. */
export function wireRequest({ method, url, headers, body }: UpstreamRequest, upload?: UploadBody): WireRequest {
  // Compression would only have to be undone, since answers are read or forwarded as they arrive.
  const wire = ['accept-encoding', 'identity'];
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    // undici would use a Host header as the TLS server name too. Both must come from the checked URL.
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

/** The part of an answer that an exchange has seen. */
export interface SeenAnswer {
  /** Whether the request was sent, so that the other side may have acted on it. */
  wasSent: boolean;
  head: UpstreamHead | undefined;
  /** On the clock of `performance.now()`. */
  headAt: number | undefined;
  /** Bytes of the body so far. */
  bytes: number;
}

/**
 * The handler that undici calls for one request. The answer is held in memory, or goes to a sink at the speed of its
 * receiver. It settles once, and ignores later events of undici.
 */
export class StreamExchange implements Dispatcher.DispatchHandler, Connecting {
  settled = false;
  readonly seen: SeenAnswer = { wasSent: false, head: undefined, headAt: undefined, bytes: 0 };
  private stage: ExchangeStage = 'unsent';
  private controller: Dispatcher.DispatchController | undefined;
  private readonly buffer = new BodyBuffer();
  private sink: AnswerSink | undefined;
  /** Set for an answer that is compressed although it was not requested. */
  private decoder: BodyDecoder | undefined;
  /** Whether the decoder accepts no more bytes for now. */
  private isDecoderFull = false;
  /** Whether `onHead` was called. */
  private isOpen = false;
  private isReceived = false;
  /** Whether the sink accepts no more bytes for now. */
  private isPaused = false;
  /** Whether the sink is corked until the end of the turn of the event loop. */
  private isCorked = false;
  /** The stream that is corked meanwhile. */
  private held: Writable | null = null;
  private readonly leastLeftMs: number;
  private resolve: (answer: RelayedAnswer) => void = () => undefined;
  private reject: (error: unknown) => void = () => undefined;

  /** @param onSettled called once, when the exchange has ended */
  constructor(
    private readonly request: WireRequest,
    private readonly plan: ExchangePlan,
    /** Released once, when the exchange has ended. */
    private readonly connection?: { release(): void },
  ) {
    request.exchange = this;
    this.leastLeftMs = leastLeftMs(plan.limits);
  }

  /** Resolves when the whole answer is in the sink or in memory. */
  run(dispatcher: Dispatcher): Promise<RelayedAnswer> {
    return new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
      const [{ upload }, { limits }] = [this.request, this.plan];
      // The upload itself bounds the wait for its client.
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

  /** Aborts the exchange on both sides. A request that waits for a connection is not sent. */
  abandon(failure: unknown): void {
    if (this.settled) return;
    this.fail(this.stage === 'unsent' && failure instanceof UpstreamFailure ? failure.unsent() : failure);
    this.controller?.abort(failure instanceof Error ? failure : new Error('the exchange was given up'));
  }

  /** Ends a stream that must not continue. No received byte is lost, so the stream need not look broken. */
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

  /** Called when the whole body has arrived, decoded. */
  private receive(head: UpstreamHead): void {
    if (this.settled) return;
    this.isReceived = true;
    if (this.sink) {
      this.plan.limits.waitForClient(this.sink.pauseMs);
      return this.cork(this.sink);
    }
    this.settle();
    // Written out, since a spread costs more than the rest of this method.
    const answer = { status: head.status, headers: head.headers, body: this.buffer.take() };
    turns.add(() => this.resolve(answer));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.settled) this.fail(toExchangeError(error, this.stage, this.request.host));
  }

  /** Returns the head for a decoded body. */
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
      // Neither followed nor forwarded: the credentials would go to another host.
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
      // These stay after the end of the exchange, since a connection may fail later, with no other listener.
      sink.stream.on('error', this.onGone).on('close', this.onGone).on('drain', this.onDrain);
      sink.stream.on('finish', () => (this.isReceived ? this.succeed(head) : this.onGone()));
      if (sink.stream.destroyed) this.onGone();
    } catch (error) {
      // An exception in a hook ends the exchange. undici would treat it as its own fault.
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
    // If it stayed corked, a fast receiver would get only 16 KiB per turn.
    this.uncork();
  }

  /** Corks the sink until the end of the turn, so that all bytes of the turn go out in one write. */
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
    // When the filter fails at the end, the bytes before it are still written.
    if (this.settled) this.held?.uncork();
  };

  /** An exception in a hook ends the exchange. undici would treat it as its own fault. */
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
    // Most often the exchange has ended, and creating an error with its stack would be wasted.
    if (this.settled) return;
    this.abandon(new UpstreamFailure('caller_gone', 'the caller left in the middle of the answer', { cause }));
  };

  private readonly onDrain = (): void => {
    // The sink may drain after writes of its own.
    if (!this.isPaused) return;
    this.isPaused = false;
    if (this.settled) return;
    if (!this.isReceived) this.plan.limits.waitForUpstream();
    this.decoder?.resume();
    if (!this.isDecoderFull) this.controller?.resume();
  };
}

/**
 * The stream to cork: the socket of an HTTP answer, if any. A corked answer never reports `drain` when the socket
 * accepts everything at once, and Node 24 writes its end before the bytes that it holds.
 */
function heldFor(stream: Writable): Writable | null {
  return stream instanceof ServerResponse ? stream.socket : stream;
}

export function isRedirect({ status }: UpstreamHead): boolean {
  return status >= 300 && status < 400;
}
