import { EventEmitter } from 'node:events';
import { Client, type buildConnector, type Dispatcher } from 'undici';

/** What a connection is opened for. */
export interface Connecting {
  /** Nobody waits for it any more. */
  readonly settled: boolean;
}

export interface ExchangeOptions extends Dispatcher.DispatchOptions {
  readonly exchange?: Connecting | undefined;
}

class NobodyWaitsError extends Error {
  constructor() {
    super('the exchange for which this connection was to be opened is over');
    this.name = 'NobodyWaitsError';
  }
}

/**
 * One connection, opened only for exchanges that are still wanted. undici puts a request that was aborted back into its queue, and
 * connects again before it finds out: a provider that hangs would be given a new connection for each call that has waited too long.
 * The same goes for a request that ends before its connection is begun. https://github.com/nodejs/undici/issues/5845; this goes when it is mended
 * in the release that we take.
 */
export class ExchangeClient extends Client {
  readonly #latest: { exchange: Connecting | undefined };

  constructor(origin: URL | string, connect: buildConnector.connector, options: Client.Options) {
    const latest: { exchange: Connecting | undefined } = { exchange: undefined };
    super(origin, {
      ...options,
      connect: (target, callback) => {
        if (latest.exchange?.settled === true) queueMicrotask(() => callback(new NobodyWaitsError(), null));
        else connect(target, callback);
      },
    });
    this.#latest = latest;
  }

  override dispatch(options: ExchangeOptions, handler: Dispatcher.DispatchHandler): boolean {
    this.#latest.exchange = options.exchange;
    return super.dispatch(options, handler);
  }

  override emit(event: string, ...values: readonly unknown[]): boolean {
    // An idle connection must not hold on to the last exchange.
    if (event === 'drain') this.#latest.exchange = undefined;
    // A pool would give the client up for it, although nothing has failed.
    if (event === 'connectionError' && values.at(-1) instanceof NobodyWaitsError) return false;
    return EventEmitter.prototype.emit.call(this, event, ...values);
  }
}
