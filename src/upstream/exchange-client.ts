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
 * connects again before it finds out (https://github.com/nodejs/undici/issues/5845): a provider that hangs would be given a new
 * connection for each call that has waited too long. It does the same for a request that ends before its connection is begun
 * (issue 386). This goes when both are mended in the release that we take.
 */
export class ExchangeClient extends Client {
  /** Of all requests since the queue was last empty: a pool may put one behind another that has no connection yet. */
  readonly #asked: (Connecting | undefined)[];

  constructor(origin: URL | string, connect: buildConnector.connector, options: Client.Options) {
    const asked: (Connecting | undefined)[] = [];
    super(origin, {
      ...options,
      connect: (target, callback) => {
        const isForNobody = asked.length > 0 && asked.every((exchange) => exchange?.settled === true);
        if (isForNobody) queueMicrotask(() => callback(new NobodyWaitsError(), null));
        else connect(target, callback);
      },
    });
    this.#asked = asked;
  }

  override dispatch(options: ExchangeOptions, handler: Dispatcher.DispatchHandler): boolean {
    this.#asked.push(options.exchange);
    const takesMore = super.dispatch(options, handler);
    if (takesMore || this.stats.size > 0) return takesMore;
    // It was refused, so that no drain will follow: a pool would take this client for busy for ever.
    this.#asked.length = 0;
    return true;
  }

  override emit(event: string, ...values: readonly unknown[]): boolean {
    // An idle connection must not hold on to exchanges that are over.
    if (event === 'drain') this.#asked.length = 0;
    // A pool would give the client up for it, although nothing has failed.
    if (event === 'connectionError' && values.at(-1) instanceof NobodyWaitsError) return false;
    return EventEmitter.prototype.emit.call(this, event, ...values);
  }
}
