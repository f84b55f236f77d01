import type { Socket } from 'node:net';
import { type Client, Pool, type buildConnector, type Dispatcher } from 'undici';
import { type Connecting, ExchangeClient, type ExchangeOptions } from './exchange-client.js';

/** A request to be sent through a relay pool. Tells the exchange which connection it came to run on. */
export class RelayOptions implements ExchangeOptions {
  readonly path: string;
  readonly method: Dispatcher.HttpMethod;
  readonly headers: Dispatcher.DispatchOptions['headers'];
  readonly body: Dispatcher.DispatchOptions['body'];
  connection: RelayConnection | undefined;
  exchange: Connecting | undefined;

  constructor({ path, method, headers, body }: Dispatcher.DispatchOptions) {
    this.path = path;
    this.method = method;
    this.headers = headers;
    this.body = body;
  }
}

/**
 * Keeps undici 7 from ending the process. When the other side closes a connection that it will not keep alive, while
 * back-pressure holds undici's parser, an assertion fails inside an event of the socket, where nobody can catch it.
 * undici 8 is mended, but does not run on Node 20; this goes when we take it.
 *
 * The listeners here are the first of the socket, so that they run before undici's.
 */
export class RelayConnection {
  #exchange: Dispatcher.DispatchController | undefined;
  #ended = false;

  /** To be told when the request of the exchange is written: undici sends one at a time, and may have queued others. */
  begin(exchange: Dispatcher.DispatchController): void {
    this.#exchange = exchange;
  }

  /** A controller holds on to its exchange, and a connection may stay idle for long. */
  end(exchange: Dispatcher.DispatchController | undefined): void {
    if (this.#exchange === exchange) this.#exchange = undefined;
  }

  /** Back-pressure, until `resume` of the controller. */
  pause(): void {
    if (!this.#ended) this.#exchange?.pause();
  }

  watch(socket: Socket): void {
    this.#ended = false;
    socket.on('end', () => {
      // Everything was read by now, so that nothing is left for which the receiver should be spared.
      this.#ended = true;
      this.#exchange?.resume();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // undici takes this code for the end of an answer, and a parser on a broken socket cannot be released any more.
      if (error.code === 'ECONNRESET') error.code = 'UPSTREAM_RESET';
    });
    readBeforeFailing(socket);
  }
}

/**
 * A server that refuses an upload may close the connection right behind its answer. Node destroys a socket on the first
 * write that fails, the unread answer with it; here such a write only never ends. The reading side, which meets the
 * same end behind the last byte, is then the one that tells.
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

export function openRelayPool(
  origin: string,
  { connect, connections, ...options }: Client.Options & { connect: buildConnector.connector; connections: number },
): Pool {
  return new Pool(origin, { connections, factory: (url) => new RelayClient(url, connect, options) });
}

/** One connection that undici cannot crash on, for an exchange that has it to itself. */
export class RelayClient extends ExchangeClient {
  readonly #connection: RelayConnection;

  constructor(origin: URL | string, connect: buildConnector.connector, options: Client.Options) {
    const connection = new RelayConnection();
    const watched: buildConnector.connector = (target, callback) => {
      connect(target, (...result) => {
        const [, socket] = result;
        if (socket) connection.watch(socket);
        callback(...result);
      });
    };
    super(origin, watched, options);
    this.#connection = connection;
  }

  override dispatch(options: ExchangeOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (options instanceof RelayOptions) options.connection = this.#connection;
    return super.dispatch(options, handler);
  }
}
