import type { Dispatcher } from 'undici';
import { TickBatcher } from '../common/tick-batcher.js';
import { AnswerBuffer } from './answer-buffer.js';
import type { CallDeadline } from './call-deadline.js';
import { Exchange } from './exchange.js';
import { type UpstreamAnswer, UpstreamFailure, type UpstreamHead, type UpstreamRequest } from './upstream.types.js';
import { wireRequest } from './wire-request.js';

/**
 * What must be left of its time when a request's turn at a connection comes. Those that waited behind a provider that hangs
 * would be sent in their last moments otherwise, for an answer that nobody reads, and that may have to be paid.
 */
const LEAST_LEFT = 0.1;

/** Whoever waits for answers that come in one turn of the event loop goes on together. */
const answers = new TickBatcher();

/**
 * One exchange, the whole answer in memory. Ends early, and closes its connection, when `limits` says so.
 * @param settled called once, when it is over
 */
export function dispatchBuffered(
  dispatcher: Dispatcher,
  request: UpstreamRequest,
  maxResponseBytes: number,
  limits: CallDeadline,
  settled?: () => void,
): Promise<UpstreamAnswer> {
  return new Promise((resolve, reject) => {
    const exchange = new BufferedExchange(request.url.host, maxResponseBytes, limits, resolve, reject, settled);
    limits.listen((failure) => exchange.abandon(failure));
    if (!exchange.settled) dispatcher.dispatch(wireRequest(request, request.body, exchange), exchange);
  });
}

class BufferedExchange extends Exchange {
  readonly #body: AnswerBuffer;
  readonly #leastMs: number;
  #head: UpstreamHead = { status: 0, headers: {} };

  constructor(
    host: string,
    maxResponseBytes: number,
    limits: CallDeadline,
    private readonly resolve: (answer: UpstreamAnswer) => void,
    reject: (error: unknown) => void,
    private readonly onSettled: (() => void) | undefined,
  ) {
    super(host, limits, reject);
    this.#body = new AnswerBuffer(host, maxResponseBytes);
    this.#leastMs = limits.remainingMs * LEAST_LEFT;
  }

  override onRequestStart(controller: Dispatcher.DispatchController): void {
    if (!this.settled && this.limits.remainingMs < this.#leastMs) {
      this.fail(new UpstreamFailure('timeout', `${this.host} had no connection in time`, { wasSent: false }));
    }
    super.onRequestStart(controller);
  }

  protected override settle(): void {
    super.settle();
    this.onSettled?.();
  }

  protected override takeHead(head: UpstreamHead): void {
    this.#head = head;
    const failure = this.#body.checkHead(head.headers);
    if (failure) this.abandon(failure);
  }

  protected override takeChunk(chunk: Buffer): void {
    const failure = this.#body.add(chunk);
    if (failure) this.abandon(failure);
  }

  protected override takeEnd(): void {
    this.settle();
    const { status, headers } = this.#head;
    const answer = { status, headers, body: this.#body.join() };
    answers.add(() => this.resolve(answer));
  }
}
