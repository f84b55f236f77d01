import { Readable } from 'node:stream';
import { GatewayError } from '../common/errors/gateway.error.js';
import { type BodyPace, BodyTimer } from '../common/http/body-timer.js';
import { lateBody } from '../common/http/read-body.js';
import { UpstreamFailure } from './upstream.types.js';

const HIGH_WATER_MARK = 64 * 1024;

/**
 * A request body on its way upstream. undici destroys the stream that it is given, and to destroy a client's request is
 * to close the connection on which the client waits for its answer: so undici gets this one. Once it is stopped or
 * destroyed, what the client still sends is read and dropped: many clients read no answer before they have sent all.
 *
 * A client that keeps it waiting is refused (`request_timeout`): the provider cannot answer yet.
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
    // Users of this stream listen as well; an error that comes when none of them does must not end the process.
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
    // The error listener stays, since a source may fail later still.
    this.source.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose);
    this.source.resume();
  }

  /** For when the client has left: nothing more will come, and what feeds the source should know. */
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

  /** A GatewayError was raised on purpose (a limit, say) and stands; whatever else breaks a request body is its sender leaving. */
  readonly #onError = (cause: Error | null): void => {
    const left = new UpstreamFailure('caller_gone', 'the request body broke off', { cause: cause ?? undefined });
    this.destroy(cause instanceof GatewayError ? cause : left);
  };

  readonly #onClose = (): void => {
    if (!this.source.readableEnded) this.#onError(null);
  };
}
