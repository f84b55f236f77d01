import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Data that has arrived before the shutdown may still be unread. */
const SILENT_MS = 100;

/**
 * Tracks responses in flight, so that a shutdown can close their connections after them. `server.close` closes only the
 * connections that are idle at that moment. Others would be kept alive after their response and delay the end for the
 * whole grace time. So would unused connections, which pools and browsers open in advance.
 */
export class RunningAnswers {
  private readonly answers = new IntrusiveList<ServerResponse>();
  private readonly connections = new IntrusiveList<Socket>();
  /** The last response of each connection, during the shutdown. */
  private readonly last = new WeakMap<Socket, ServerResponse>();
  private ending = false;

  constructor(server: Server) {
    server.prependListener('request', (_request, answer: ServerResponse) => {
      answer.once('close', this.answers.add(answer));
      if (this.ending) this.endConnectionAfter(answer);
    });
    server.on('connection', (socket: Socket) => {
      socket.once('close', this.connections.add(socket));
    });
  }

  /** From now on every connection closes after its response. */
  endWithAnswers(): void {
    this.ending = true;
    // The list begins with the newest.
    for (const answer of [...this.answers].reverse()) this.endConnectionAfter(answer);
  }

  /** Closes connections that have sent nothing. */
  endUnused(): void {
    const end = (): void => {
      for (const socket of this.connections) if (socket.bytesRead === 0) socket.destroy();
    };
    // Data that arrived while the process was busy is read between the timer and the immediate.
    setTimeout(() => setImmediate(end), SILENT_MS);
  }

  /** Cuts all connections but those of these answers. */
  cutAllBut(isSpared: (answer: ServerResponse) => boolean): void {
    const spared = new Set<Socket>();
    for (const answer of this.answers) if (isSpared(answer)) spared.add(answer.req.socket);
    for (const socket of this.connections) if (!spared.has(socket)) socket.destroy();
  }

  /** Marks the last pipelined response of the connection as the closing one. Requests after it get no response. */
  private endConnectionAfter(answer: ServerResponse): void {
    const { socket } = answer.req;
    const before = this.last.get(socket);
    this.last.set(socket, answer);
    if (before?.headersSent === false) before.removeHeader('connection');
    if (!answer.headersSent) return void answer.setHeader('connection', 'close');
    answer.once('finish', () => {
      if (this.last.get(socket) === answer) socket.end();
    });
  }
}

interface Link<Item> {
  readonly item: Item;
  before: Link<Item> | undefined;
  after: Link<Item> | undefined;
}

/**
 * A linked list of items that come and go with every request or connection. Not a Set: a Set replaces its table every
 * few entries, and each table points to its successor. A dead table among V8's old objects would keep every later entry
 * in memory (docs/decisions/0018-garbage-of-requests.md).
 */
class IntrusiveList<Item> implements Iterable<Item> {
  private first: Link<Item> | undefined;

  /** Returns a function that removes the item. */
  add(item: Item): () => void {
    const link: Link<Item> = { item, before: undefined, after: this.first };
    if (this.first !== undefined) this.first.before = link;
    this.first = link;
    return () => {
      const { before, after } = link;
      if (before === undefined) this.first = after;
      else before.after = after;
      if (after !== undefined) after.before = before;
      link.before = undefined;
      link.after = undefined;
    };
  }

  *[Symbol.iterator](): Iterator<Item> {
    for (let link = this.first; link !== undefined; link = link.after) yield link.item;
  }
}
