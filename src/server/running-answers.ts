import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What has come by the end may still have to be read. */
const SILENT_MS = 100;

/**
 * The answers under way, so that their connections can end with them. `server.close` ends the connections that are idle at
 * that moment; others would be kept alive after their answer, and hold up the end for the whole grace time. So would those on
 * which nothing was ever sent, which are not idle to it: pools and browsers open some for later.
 */
export class RunningAnswers {
  private readonly answers = new IntrusiveList<ServerResponse>();
  private readonly connections = new IntrusiveList<Socket>();
  /** Of each connection, once they end. */
  private readonly last = new WeakMap<Socket, ServerResponse>();
  private ending = false;

  constructor(server: Server) {
    server.prependListener('request', (_request, answer: ServerResponse) => {
      if (this.ending) return this.endConnectionAfter(answer);
      answer.once('close', this.answers.add(answer));
    });
    server.on('connection', (socket: Socket) => {
      socket.once('close', this.connections.add(socket));
    });
  }

  /** From now on every connection ends with its answer. */
  endWithAnswers(): void {
    this.ending = true;
    // The list has the newest first.
    for (const answer of [...this.answers].reverse()) this.endConnectionAfter(answer);
  }

  /** Ends soon what has asked nothing. */
  endUnused(): void {
    const end = (): void => {
      for (const socket of this.connections) if (socket.bytesRead === 0) socket.destroy();
    };
    // What came while the process was busy is read between the two.
    setTimeout(() => setImmediate(end), SILENT_MS);
  }

  /** After the last of those that were asked for on the connection without waiting: what is behind the end gets no answer. */
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
 * Things that come and go with every request, or connection. In a list of links and not in a Set: a Set gets a new table every few
 * entries, and each table points to the one that came after it. One that is dead but among V8's old objects would hold, through
 * them, every entry since (docs/decisions/0018-garbage-of-requests.md).
 */
class IntrusiveList<Item> implements Iterable<Item> {
  private first: Link<Item> | undefined;

  /** Returns what takes it out again. */
  add(item: Item): () => void {
    const link: Link<Item> = { item, before: undefined, after: this.first };
    if (this.first !== undefined) this.first.before = link;
    this.first = link;
    return () => this.remove(link);
  }

  *[Symbol.iterator](): Iterator<Item> {
    for (let link = this.first; link !== undefined; link = link.after) yield link.item;
  }

  private remove(link: Link<Item>): void {
    const { before, after } = link;
    if (before === undefined) this.first = after;
    else before.after = after;
    if (after !== undefined) after.before = before;
    link.before = undefined;
    link.after = undefined;
  }
}
