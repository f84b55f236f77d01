import { Readable } from 'node:stream';
import { GatewayError } from '../common/errors/gateway.error.js';
import { type BodyPace, BodyTimer } from '../common/http/body-timer.js';
import { lateBody } from '../common/http/read-body.js';
import { UpstreamFailure } from './upstream.types.js';

const HIGH_WATER_MARK = 64 * 1024;

/**
 * The body of a client's request, as undici gets it. undici destroys the stream that it is given, and destroying the
 * client's request would close the connection on which the client waits for its answer. After a stop, the rest of the
 * client's body is read and dropped, because many clients read no answer before they have sent everything. A client
 * that is too slow is refused (`request_timeout`), since the provider cannot answer yet.
 */
export class UploadBody extends Readable {
  #onAwaited: (isAwaited: boolean) => void = () => undefined;
  /** Runs while the source is awaited. */
  #timer: BodyTimer | undefined;
  #receivedBytes = 0;
  #isStopped = false;

  constructor(
    private readonly source: Readable,
    private readonly pace: BodyPace,
  ) {
    super({ highWaterMark: HIGH_WATER_MARK });
    // An error without another listener must not end the process.
    this.on('error', () => undefined);
    source.on('error', this.#onError);
    source.on('end', this.#onEnd);
    source.on('close', this.#onClose);
    source.on('data', this.#onData);
    source.pause();
    if (source.readableEnded) this.push(null);
    else if (source.destroyed) this.#onError(source.errored);
  }

  /** Runs `listener` when the wait for the source begins, and when it ends. */
  whenAwaited(listener: (isAwaited: boolean) => void): void {
    this.#onAwaited = listener;
  }

  override _read(): void {
    if (!this.#isStopped && this.#timer === undefined) {
      this.#timer = new BodyTimer(this.pace, () => this.destroy(lateBody(this.#receivedBytes)));
      this.#onAwaited(true);
    }
    this.source.resume();
  }

  /** Sends nothing more, and leaves the exchange to its answer: undici would take `destroy` for the end of the exchange. */
  stop(): void {
    this.#isStopped = true;
    this.#endWait();
    // The error listener stays, since the source may still fail later.
    this.source.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose);
    this.source.resume();
  }

  /** Call it when the client has disconnected: destroys the source. */
  abandonSource(): void {
    this.source.destroy();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.stop();
    done(error);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#receivedBytes += chunk.length;
    this.#timer?.moved(chunk.length);
    if (this.push(chunk)) return;
    this.source.pause();
    this.#endWait();
  };

  readonly #onEnd = (): void => {
    this.#endWait();
    this.push(null);
  };

  #endWait(): void {
    if (this.#timer === undefined) return;
    this.#timer.stop();
    this.#timer = undefined;
    this.#onAwaited(false);
  }

  /** A GatewayError, such as a limit, is kept. Any other error of a request body means that its client disconnected. */
  readonly #onError = (cause: Error | null): void => {
    const left = new UpstreamFailure('caller_gone', 'the request body broke off', { cause: cause ?? undefined });
    this.destroy(cause instanceof GatewayError ? cause : left);
  };

  readonly #onClose = (): void => {
    if (!this.source.readableEnded) this.#onError(null);
  };
}
