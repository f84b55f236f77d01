import type { Dispatcher } from 'undici';
import { AnswerBuffer } from './answer-buffer.js';
import type { CallLimits } from './call-limits.js';
import { Exchange } from './exchange.js';
import type { UpstreamAnswer, UpstreamHead, UpstreamRequest } from './upstream.types.js';
import { wireRequest } from './wire-request.js';

/**
 * One exchange, the whole answer in memory. Ends early, and closes its connection, when `limits` says so.
 * @param settled called once, when it is over
 */
export function dispatchBuffered(
  dispatcher: Dispatcher,
  request: UpstreamRequest,
  maxResponseBytes: number,
  limits: CallLimits,
  settled?: () => void,
): Promise<UpstreamAnswer> {
  return new Promise((resolve, reject) => {
    const exchange = new BufferedExchange(request.url.host, maxResponseBytes, limits, resolve, reject, settled);
    limits.listen((failure) => exchange.abandon(failure));
    if (!exchange.settled) dispatcher.dispatch(wireRequest(request, request.body), exchange);
  });
}

class BufferedExchange extends Exchange {
  readonly #body: AnswerBuffer;
  #head: UpstreamHead = { status: 0, headers: {} };

  constructor(
    host: string,
    maxResponseBytes: number,
    limits: CallLimits,
    private readonly resolve: (answer: UpstreamAnswer) => void,
    reject: (error: unknown) => void,
    private readonly onSettled: (() => void) | undefined,
  ) {
    super(host, limits, reject);
    this.#body = new AnswerBuffer(host, maxResponseBytes);
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
    this.resolve({ status, headers, body: this.#body.join() });
  }
}
