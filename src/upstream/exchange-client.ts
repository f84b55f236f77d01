import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { Client, Pool, type buildConnector, type Dispatcher } from 'undici';

/** The exchange for which a connection is opened. */
export interface Connecting {
  /** Whether the exchange is over. Then its connection is not needed any more. */
  readonly settled: boolean;
}

/** A request for an ExchangeClient, which fills in the connection on which the request runs. */
export interface ExchangeOptions extends Dispatcher.DispatchOptions {
  exchange?: Connecting | undefined;
  connection?: GuardedConnection | undefined;
}

class NobodyWaitsError extends Error {
  constructor() {
    super('the exchange for which this connection was to be opened is over');
    this.name = 'NobodyWaitsError';
  }
}

/**
 * One connection to an origin. Every workaround for undici 7 is in this file. Most can be removed when Node 20 support
 * ends and undici 8 is used. A connection is opened only for exchanges that are still wanted. undici puts an aborted
 * request back into its queue and reconnects before it notices (https://github.com/nodejs/undici/issues/5845). A
 * hanging provider would get a new connection for each call that has timed out. undici does the same for a request that
 * ends before its connection is started (issue 386).
 */
export class ExchangeClient extends Client {
  /**
   * The exchanges of all requests since the queue was last empty. A pool may queue a request behind another that has no
   * connection yet.
   */
  readonly #asked: (Connecting | undefined)[];
  readonly #connection: GuardedConnection;

  constructor(origin: URL | string, connect: buildConnector.connector, options: Client.Options) {
    const asked: (Connecting | undefined)[] = [];
    const connection = new GuardedConnection();
    super(origin, {
      ...options,
      connect: (target, callback) => {
        const isForNobody = asked.length > 0 && asked.every((exchange) => exchange?.settled === true);
        if (isForNobody) return queueMicrotask(() => callback(new NobodyWaitsError(), null));
        connect(target, (...result) => {
          const [, socket] = result;
          if (socket) connection.watch(socket);
          callback(...result);
        });
      },
    });
    this.#asked = asked;
    this.#connection = connection;
  }

  override dispatch(options: ExchangeOptions, handler: Dispatcher.DispatchHandler): boolean {
    options.connection = this.#connection;
    this.#asked.push(options.exchange);
    const takesMore = super.dispatch(options, handler);
    if (takesMore || this.stats.size > 0) return takesMore;
    // The request was refused, so no drain will follow, and a pool would treat this client as busy forever.
    this.#asked.length = 0;
    return true;
  }

  override emit(event: string, ...values: readonly unknown[]): boolean {
    // An idle connection must not keep ended exchanges in memory.
    if (event === 'drain') this.#asked.length = 0;
    // A pool would discard the client on this event, although nothing has failed.
    if (event === 'connectionError' && values.at(-1) instanceof NobodyWaitsError) return false;
    return EventEmitter.prototype.emit.call(this, event, ...values);
  }
}

/** A pool of ExchangeClients to one origin. */
export function openPool(
  origin: string,
  { connect, connections, ...options }: Client.Options & { connect: buildConnector.connector; connections: number },
): Pool {
  return new Pool(origin, { connections, factory: (url) => new ExchangeClient(url, connect, options) });
}

/**
 * Keeps undici 7 from ending the process. When the other side closes a connection without keep-alive while
 * back-pressure holds undici's parser, an assertion fails inside a socket event, where it cannot be caught. The
 * listeners here are the socket's first, so that they run before undici's.
 */
export class GuardedConnection {
  #exchange: Dispatcher.DispatchController | undefined;
  #ended = false;
  readonly #interim = new InterimFilter();

  /** Call when the request of the exchange is written. undici sends one at a time, and may have queued others. */
  begin(exchange: Dispatcher.DispatchController): void {
    this.#exchange = exchange;
    this.#interim.awaitAnswer();
  }

  /** Releases the exchange. Its controller keeps it in memory, and a connection may be idle for long. */
  end(exchange: Dispatcher.DispatchController | undefined): void {
    if (this.#exchange === exchange) this.#exchange = undefined;
  }

  /** Applies back-pressure until the controller's `resume`. */
  pause(): void {
    if (!this.#ended) this.#exchange?.pause();
  }

  watch(socket: Socket): void {
    this.#ended = false;
    socket.on('end', () => {
      // Everything was read by now, so back-pressure has nothing left to hold back.
      this.#ended = true;
      this.#exchange?.resume();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // undici treats this code as the end of an answer, and a parser on a broken socket cannot be released any more.
      if (error.code === 'ECONNRESET') error.code = 'UPSTREAM_RESET';
    });
    readBeforeFailing(socket);
    this.#skipContinue(socket);
  }

  /** Filters the bytes of `read`, which undici calls. */
  #skipContinue(socket: Socket): void {
    const read = socket.read.bind(socket);
    socket.read = (size?: number): unknown => {
      const bytes: unknown = read(size);
      return Buffer.isBuffer(bytes) ? this.#interim.pass(bytes) : bytes;
    };
  }
}

/**
 * Ignores failed writes, so that an early answer can be read. A server that refuses an upload may close the connection
 * right after its answer. Node destroys a socket on the first failed write, and loses the unread answer. Here such a
 * write never completes. The reading side reaches the end after the last byte, and reports it.
 */
function readBeforeFailing(socket: Socket): void {
  const write = socket._write.bind(socket);
  const writev = socket._writev?.bind(socket);
  const heedless = (done: (error?: Error | null) => void) => (error?: NodeJS.ErrnoException | null) => {
    if (error?.code !== 'EPIPE' && error?.code !== 'ECONNRESET') done(error);
  };
  socket._write = (chunk, encoding, done) => write(chunk, encoding, heedless(done));
  if (writev) socket._writev = (chunks, done) => writev(chunks, heedless(done));
}

const CONTINUES = ['HTTP/1.1 100', 'HTTP/1.0 100'] as const;
const STATUS_LINE_LENGTH = CONTINUES[0].length;
/** The position of the status, and the first digit of an interim one. */
const STATUS_AT = CONTINUES[0].indexOf('100');
const INTERIM = '1'.charCodeAt(0);
/** The characters after a status: before a reason, or at the end of the line. */
const AFTER_STATUS = [' ', '\r'];
const END_OF_HEAD = '\r\n\r\n';
/** Node's limit for the head of an answer. */
const MAX_HEAD_BYTES = 16 * 1024;
const NOTHING = Buffer.alloc(0);

/**
 * Removes interim answers `100 Continue` before an answer. The gateway never requests one, but a client must skip it
 * (RFC 9110, section 15.2). undici 7 closes the connection instead.
 */
class InterimFilter {
  #isAwaited = false;
  /** The beginning of a possible interim answer. */
  #held: Buffer = NOTHING;

  /** Call when a request is sent. The next bytes begin an answer. */
  awaitAnswer(): void {
    this.#isAwaited = true;
    this.#held = NOTHING;
  }

  /** Returns the bytes without interim answers; null when none remain so far. */
  pass(bytes: Buffer): Buffer | null {
    if (!this.#isAwaited) return bytes;
    let rest = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    this.#held = NOTHING;
    // For most answers, one byte decides, without converting bytes to text.
    if (rest.length > STATUS_AT && rest[STATUS_AT] !== INTERIM) {
      this.#isAwaited = false;
      return rest;
    }
    while (mayContinue(rest)) {
      const end = rest.indexOf(END_OF_HEAD);
      if (end < 0 && rest.length <= MAX_HEAD_BYTES) {
        this.#held = rest;
        return null;
      }
      if (end < 0) break;
      rest = rest.subarray(end + END_OF_HEAD.length);
      if (rest.length === 0) return null;
    }
    this.#isAwaited = false;
    return rest;
  }
}

function mayContinue(bytes: Buffer): boolean {
  const beginning = bytes.toString('latin1', 0, STATUS_LINE_LENGTH + 1);
  const next = beginning[STATUS_LINE_LENGTH];
  return (
    CONTINUES.some((line) => line.startsWith(beginning.slice(0, STATUS_LINE_LENGTH))) &&
    (next === undefined || AFTER_STATUS.includes(next))
  );
}
