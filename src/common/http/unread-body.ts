import type { IncomingMessage } from 'node:http';

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_MS = 60_000;
const SWEEP_MS = 50;

/**
 * Bounds bodies that are received and discarded. Node would do so without end, so that a client without a key could keep
 * its connection for an hour, or send gigabytes. A connection ends after 64 MiB or a minute of such a body, and what it
 * sends within one sweep.
 *
 * The sweep is the same for all connections: Node hands out no discarded data, and a listener at the socket would take
 * the reading away from its parser.
 */
export class UnreadBodies {
  readonly #watched = new Map<IncomingMessage, { readonly maxBytesRead: number; readonly endsAt: number }>();
  #sweeping: NodeJS.Timeout | undefined;

  constructor(private readonly limits = { maxBytes: MAX_BYTES, maxMs: MAX_MS }) {}

  /** Call it when the rest of the body is not read. */
  limit(request: IncomingMessage): void {
    const { socket } = request;
    if (request.complete || socket.destroyed || this.#watched.has(request)) return;
    const { maxBytes, maxMs } = this.limits;
    this.#watched.set(request, { maxBytesRead: socket.bytesRead + maxBytes, endsAt: performance.now() + maxMs });
    this.#sweeping ??= setInterval(() => this.#sweep(), SWEEP_MS).unref();
  }

  #sweep(): void {
    const now = performance.now();
    for (const [request, { maxBytesRead, endsAt }] of this.#watched) {
      const { complete, socket } = request;
      if (!complete && now < endsAt && socket.bytesRead <= maxBytesRead && !socket.destroyed) continue;
      if (!complete) socket.destroy();
      this.#watched.delete(request);
    }
    if (this.#watched.size > 0) return;
    clearInterval(this.#sweeping);
    this.#sweeping = undefined;
  }
}

/** Those of this process. */
export const unreadBodies = new UnreadBodies();
