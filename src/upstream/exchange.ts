import type { Dispatcher } from 'undici';
import type { CallDeadline } from './call-deadline.js';
import { toExchangeError, type ExchangeStage } from './exchange-failure.js';
import { UpstreamFailure, type UpstreamHead, type UpstreamHeaders } from './upstream.types.js';

/**
 * The handler that undici calls for one request. It settles once; whatever undici reports after that is of no interest
 * any more. What becomes of the answer is up to the kind of exchange.
 */
export abstract class Exchange implements Dispatcher.DispatchHandler {
  settled = false;
  #stage: ExchangeStage = 'unsent';
  #controller: Dispatcher.DispatchController | undefined;
  #answerHead: UpstreamHead | undefined;

  constructor(
    protected readonly host: string,
    protected readonly limits: CallDeadline,
    private readonly reject: (error: unknown) => void,
  ) {}

  /** Gives up: what is under way is cut off, what still waits for a connection will not be sent. */
  abandon(failure: Error): void {
    if (this.settled) return;
    this.fail(this.#stage === 'unsent' && failure instanceof UpstreamFailure ? failure.unsent() : failure);
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
    this.#answerHead = { status, headers };
    if (status >= 300 && status < 400) {
      this.abandon(new UpstreamFailure('redirect', `${this.host} redirects (${status})`));
    } else {
      this.takeHead(this.#answerHead);
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.settled) this.takeChunk(chunk);
  }

  onResponseEnd(): void {
    if (!this.settled) this.takeEnd();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.settled) this.fail(toExchangeError(error, this.#stage, this.host));
  }

  protected abstract takeHead(head: UpstreamHead): void;
  protected abstract takeChunk(chunk: Buffer): void;
  protected abstract takeEnd(): void;

  protected settle(): void {
    this.settled = true;
    this.limits.unlisten();
  }

  protected fail(error: unknown): void {
    this.settle();
    const head = this.#answerHead;
    this.reject(head !== undefined && error instanceof UpstreamFailure ? error.after(head) : error);
  }
}
