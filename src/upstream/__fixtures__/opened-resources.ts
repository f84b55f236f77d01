import { createHook } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isObject } from '../../common/json/read.js';

/** Handles of libuv that keep a connection, a server, a look-up or a timer; what TLS adds to a connection goes with its garbage. */
const KINDS = /^(TCP|PIPE|UDP|HTTP|Timeout|GETADDRINFO|QUERYWRAP)/;
const CONNECTED = 'undici:client:connected';
const WAIT_MS = 2_500;

/**
 * Sockets, servers and timers that were opened since `watch`, each by its identity: what other spec files of the same worker have
 * left behind neither counts nor makes up for anything.
 */
export class OpenedResources {
  /** Connections of undici. */
  readonly #sockets: Socket[] = [];
  readonly #open = new Map<number, string>();
  readonly #hook = createHook({
    init: (id, kind) => {
      if (KINDS.test(kind)) this.#open.set(id, kind);
    },
    destroy: (id) => this.#open.delete(id),
  });

  static watch(): OpenedResources {
    const opened = new OpenedResources();
    opened.#hook.enable();
    subscribe(CONNECTED, opened.#onConnected);
    return opened;
  }

  get timers(): number {
    return [...this.#open.values()].filter((kind) => kind === 'Timeout').length;
  }

  /** Whether undici connected at all, and has closed each connection by itself. */
  get areConnectionsClosed(): boolean {
    return this.#sockets.length > 0 && this.#sockets.every(({ destroyed }) => destroyed);
  }

  /** Waits until all are closed. Without a timer, which would be one of them. */
  async allClosed(): Promise<void> {
    const deadline = Date.now() + WAIT_MS;
    while (this.#open.size > 0) {
      if (Date.now() > deadline) throw new Error(`still open: ${[...this.#open.values()].join(' ')}`);
      await nextTurn();
    }
    this.#hook.disable();
    unsubscribe(CONNECTED, this.#onConnected);
  }

  readonly #onConnected = (message: unknown): void => {
    if (isObject(message) && message['socket'] instanceof Socket) this.#sockets.push(message['socket']);
  };
}
