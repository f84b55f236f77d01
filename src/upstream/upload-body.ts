import { Readable } from 'node:stream';
import { GatewayError } from '../common/errors/gateway.error.js';
import { UpstreamFailure } from './upstream.types.js';

const HIGH_WATER_MARK = 64 * 1024;

/**
 * A request body on its way upstream. undici destroys the stream that it is given, and to destroy a client's request is
 * to close the connection on which the client waits for its answer: so undici gets this one. Once it is stopped or
 * destroyed, what the client still sends is read and dropped: many clients read no answer before they have sent all.
 */
export class UploadBody extends Readable {
  #onMoved: () => void = () => undefined;

  constructor(private readonly source: Readable) {
    super({ highWaterMark: HIGH_WATER_MARK });
    // Users of this stream listen as well; an error that comes when none of them does must not end the process.
    this.on('error', () => undefined);
    this.on('end', () => this.#onMoved());
    source.on('error', this.#onError);
    source.on('end', this.#onEnd);
    source.on('close', this.#onClose);
    source.on('data', this.#onData);
    source.pause();
    if (source.readableEnded) this.push(null);
    else if (source.destroyed) this.#onError(source.errored);
  }

  /** Runs `listener` whenever something came from the source, and when the last of it was handed over. */
  whenMoved(listener: () => void): void {
    this.#onMoved = listener;
  }

  override _read(): void {
    this.source.resume();
  }

  /** Sends nothing more, and leaves the exchange to its answer: undici would take `destroy` for the end of the exchange. */
  stop(): void {
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
    this.#onMoved();
    if (!this.push(chunk)) this.source.pause();
  };

  readonly #onEnd = (): void => {
    this.push(null);
  };

  /** A GatewayError was raised on purpose (a limit, say) and stands; whatever else breaks a request body is its sender leaving. */
  readonly #onError = (cause: Error | null): void => {
    const left = new UpstreamFailure('caller_gone', 'the request body broke off', { cause: cause ?? undefined });
    this.destroy(cause instanceof GatewayError ? cause : left);
  };

  readonly #onClose = (): void => {
    if (!this.source.readableEnded) this.#onError(null);
  };
}
