import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_MS = 60_000;
const SWEEP_MS = 50;

interface Watched {
  readonly request: IncomingMessage;
  readonly maxBytesRead: number;
  readonly endsAt: number;
}

/**
 * Bounds bodies that are received and discarded. Node would do so without end, so that a client without a key could keep
 * its connection for an hour, or send gigabytes. A connection ends after 64 MiB or a minute of such a body, and what it
 * sends within one sweep. After a request that asks for another protocol (`Upgrade`), Node also discards what is not HTTP.
 *
 * The sweep is the same for all connections: Node hands out no discarded data, and a listener at the socket would take
 * the reading away from its parser.
 */
export class UnreadBodies {
  readonly #watched = new Map<Socket, Watched>();
  #sweeping: NodeJS.Timeout | undefined;

  constructor(private readonly limits = { maxBytes: MAX_BYTES, maxMs: MAX_MS }) {}

  /** Call it with each request of a server. What came before on the connection is over. */
  follow(request: IncomingMessage, response: ServerResponse): void {
    if (this.#watched.size > 0) this.#watched.delete(request.socket);
    // Otherwise, Node would receive the rest of the body without a limit, to keep the connection.
    response.on('close', () => this.limit(request));
  }

  /** Call it when the rest of the body is not read. */
  limit(request: IncomingMessage): void {
    const { socket } = request;
    if (isOver(request) || this.#watched.get(socket)?.request === request) return;
    const { maxBytes, maxMs } = this.limits;
    const bounds = { maxBytesRead: socket.bytesRead + maxBytes, endsAt: performance.now() + maxMs };
    this.#watched.set(socket, { request, ...bounds });
    this.#sweeping ??= setInterval(() => this.#sweep(), SWEEP_MS).unref();
  }

  #sweep(): void {
    const now = performance.now();
    for (const [socket, { request, maxBytesRead, endsAt }] of this.#watched) {
      const isTooLate = !request.complete && now >= endsAt;
      if (!isOver(request) && !isTooLate && socket.bytesRead <= maxBytesRead) continue;
      if (!isOver(request)) socket.destroy();
      this.#watched.delete(socket);
    }
    if (this.#watched.size > 0) return;
    clearInterval(this.#sweeping);
    this.#sweeping = undefined;
  }
}

/** Whether the connection discards nothing any more. */
function isOver({ complete, headers, socket }: IncomingMessage): boolean {
  return socket.destroyed || (complete && headers.upgrade === undefined);
}

/** The unread bodies of this process. */
export const unreadBodies = new UnreadBodies();
