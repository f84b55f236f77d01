import type { Dispatcher } from 'undici';
import type { CallLimits } from './call-limits.js';
import { toExchangeError, type ExchangeStage } from './exchange-failure.js';
import { firstHeader } from './upstream-headers.js';
import { UpstreamFailure, type UpstreamAnswer, type UpstreamHeaders, type UpstreamRequest } from './upstream.types.js';

/** One exchange, the whole answer in memory. Ends early, and closes its connection, when `limits` says so. */
export function dispatchBuffered(
  dispatcher: Dispatcher,
  request: UpstreamRequest,
  maxResponseBytes: number,
  limits: CallLimits,
): Promise<UpstreamAnswer> {
  return new Promise((resolve, reject) => {
    const exchange = new BufferedExchange(request.url.host, maxResponseBytes, limits, resolve, reject);
    limits.listen((failure) => exchange.abandon(failure));
    if (exchange.settled) return;
    dispatcher.dispatch(
      {
        path: request.url.pathname + request.url.search,
        method: request.method,
        headers: wireHeaders(request.headers),
        body: request.body ?? null,
      },
      exchange,
    );
  });
}

function wireHeaders(headers: UpstreamRequest['headers']): string[] {
  // Answers are read or passed on as they come, so compression would only have to be undone.
  const wire = ['accept-encoding', 'identity'];
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    // undici takes a Host header for the TLS server name as well; both always come from the URL that was checked.
    if (value !== undefined && name !== 'host' && name !== 'accept-encoding') wire.push(name, value);
  }
  return wire;
}

/** The handler that undici calls. It settles once; whatever undici reports after that is of no interest any more. */
class BufferedExchange implements Dispatcher.DispatchHandler {
  settled = false;
  #stage: ExchangeStage = 'unsent';
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: UpstreamHeaders = {};
  readonly #chunks: Buffer[] = [];
  #receivedBytes = 0;

  constructor(
    private readonly host: string,
    private readonly maxResponseBytes: number,
    private readonly limits: CallLimits,
    private readonly resolve: (answer: UpstreamAnswer) => void,
    private readonly reject: (error: unknown) => void,
  ) {}

  /** Gives up: what is under way is cut off, what still waits for a connection will not be sent. */
  abandon(failure: UpstreamFailure): void {
    this.#fail(failure);
    this.#controller?.abort(failure);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Throwing drops the request and keeps the connection for the next one; `controller.abort` would close it.
    if (this.settled) throw new Error('the call ended while it waited for a connection');
    this.#controller = controller;
    this.#stage = 'sent';
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: UpstreamHeaders): void {
    if (this.settled || status < 200) return;
    this.#stage = 'answering';
    this.#status = status;
    this.#headers = headers;
    if (status >= 300 && status < 400) {
      this.abandon(new UpstreamFailure('redirect', `${this.host} redirects (${status})`));
    } else if (Number(firstHeader(headers, 'content-length') ?? 0) > this.maxResponseBytes) {
      this.abandon(this.#tooLarge());
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.settled) return;
    this.#receivedBytes += chunk.length;
    if (this.#receivedBytes > this.maxResponseBytes) this.abandon(this.#tooLarge());
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (this.settled) return;
    this.#settle();
    const [first] = this.#chunks;
    // A chunk is a view of a buffer that Node filled for it alone, so the only one can be handed on without a copy.
    const body =
      first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks, this.#receivedBytes);
    this.resolve({ status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.settled) this.#fail(toExchangeError(error, this.#stage, this.host));
  }

  #fail(error: unknown): void {
    this.#settle();
    this.reject(error);
  }

  #settle(): void {
    this.settled = true;
    this.limits.unlisten();
  }

  #tooLarge(): UpstreamFailure {
    return new UpstreamFailure('too_large', `${this.host} sent more than ${this.maxResponseBytes} bytes`);
  }
}
