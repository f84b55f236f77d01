import { createServer, IncomingMessage, type RequestListener, ServerResponse, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { continueWhenRead } from '../common/http/expect-continue.js';
import { unreadBodies } from '../common/http/unread-body.js';
import { TickBatcher } from '../common/tick-batcher.js';
import { JsonText } from '../common/json/write.js';
import { answerMalformedRequest, type NoteRefusal } from './malformed-request.js';
import type { OfferedRoute } from './offered-operations.js';
import { RouteIndex } from './route-index.js';
import type { Socket } from 'node:net';

/** Longer than the idle time-outs of common load balancers (60 s), so that they close a connection first and no request is lost. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const HEADERS_TIMEOUT_MS = 66_000;
/** Node's five minutes would cut off the upload of a large file over a slow line. */
const REQUEST_TIMEOUT_MS = 3_600_000;

declare module 'express-serve-static-core' {
  interface Request {
    /** When its head arrived, by `performance.now()`. Processing may start later. */
    readonly arrivedAt?: number;
  }
}

/**
 * Express sets the prototype of every request and response when it handles them, and V8 then moves each object to a slow
 * shape (nodejs/node#37457): about 100 µs per request. Here the server creates objects that already have Express's
 * prototypes, so that setting them changes nothing. See docs/decisions/0030-express-with-linked-prototypes.md.
 */
export class LinkedExpressAdapter extends ExpressAdapter {
  /** Called for malformed HTTP, which never becomes a request. */
  noteMalformed: NoteRefusal | undefined;

  constructor() {
    const app = express();
    app.disable('x-powered-by');
    app.disable('etag');
    app.set('query parser', 'simple');
    super(app);
  }

  override initHttpServer(): void {
    const app: Express = this.getInstance();
    class LinkedRequest extends IncomingMessage {
      readonly arrivedAt = performance.now();
    }
    class LinkedResponse extends ServerResponse {}
    Object.setPrototypeOf(LinkedRequest.prototype, app.request);
    Object.setPrototypeOf(LinkedResponse.prototype, app.response);
    Object.assign(app, { request: LinkedRequest.prototype, response: LinkedResponse.prototype });
    this.httpServer = createServer(
      {
        IncomingMessage: LinkedRequest,
        ServerResponse: LinkedResponse,
        keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
        headersTimeout: HEADERS_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS,
        // The gateway refuses such requests itself, in its error format.
        requireHostHeader: false,
      },
      startTogether(app),
    );
    // Node would drop header lines after the thousandth from `headers`, and later from `rawHeaders`, so rules would
    // read other headers than those that are forwarded. The size of the head limits them instead.
    this.httpServer.maxHeadersCount = 0;
    this.httpServer.on('clientError', (cause: Error, socket: Duplex) =>
      answerMalformedRequest(cause, socket, this.noteMalformed),
    );
    this.httpServer.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      continueWhenRead(request, response);
      this.httpServer.emit('request', request, response);
    });
    // An unknown expectation may be ignored (RFC 9110, section 10.1.1).
    this.httpServer.on('checkExpectation', (...exchange) => this.httpServer.emit('request', ...exchange));
    closeQueuedAnswers(this.httpServer);
    indexRoutes(app);
  }

  /** Writes objects as JSON directly: `res.json` would scan the body again for ETag and charset. */
  override reply(response: Response, body: unknown, statusCode?: number): unknown {
    if (typeof body !== 'object' || body === null || Buffer.isBuffer(body) || 'getStream' in body) {
      return super.reply(response, body, statusCode);
    }
    const text = body instanceof JsonText ? body.text : JSON.stringify(body);
    response.statusCode = statusCode ?? response.statusCode;
    response.setHeader('content-type', 'application/json; charset=utf-8');
    response.setHeader('content-length', Buffer.byteLength(text));
    // A string is sent in one write with the head.
    return response.end(text);
  }

  /** Methods that the address accepts: for `405` and its `Allow` header. Empty for an unknown address. */
  methodsOf(path: string): readonly string[] {
    return [...new Set(this.routesAt(path).map(({ method }) => method))].sort();
  }

  /** The routes that match the path, with their patterns. */
  routesAt(path: string): readonly OfferedRoute[] {
    const app: Express = this.getInstance();
    return app.router.stack.filter((layer) => layer.route !== undefined && matches(layer, path)).flatMap(routesOf);
  }

  /** All routes, for the error about an operation that is not there. */
  offered(): readonly OfferedRoute[] {
    const app: Express = this.getInstance();
    return app.router.stack.flatMap(routesOf);
  }
}

function routesOf({ route }: Express['router']['stack'][number]): readonly OfferedRoute[] {
  if (route === undefined) return [];
  return route.stack.map(({ method }) => ({ method: method.toUpperCase(), path: String(route.path) }));
}

/** Starts the requests that arrive in one turn of the event loop together. */
function startTogether(app: Express): RequestListener<typeof IncomingMessage, typeof ServerResponse> {
  const arrivals = new TickBatcher();
  return (request, response) => {
    unreadBodies.follow(request, response);
    arrivals.add(() => {
      const wasOver = response.destroyed;
      app(request, response);
      // The client disconnected before its turn: listeners that were added since would miss the event.
      if (wasOver) response.emit('close');
    });
  };
}

/** Built at the first request: all routes are registered by then, since the server listens last. */
function indexRoutes({ router }: Express): void {
  let index: RouteIndex | undefined;
  const handle = (request: Request, response: Response, done: NextFunction): void => {
    index ??= new RouteIndex(router.stack);
    index.routerFor(request.url)(request, response, done);
  };
  Object.assign(router, { handle });
}

/** `match` is a public method of the router's layers that its types leave out. */
function matches(layer: object, path: string): boolean {
  return 'match' in layer && typeof layer.match === 'function' && Boolean(layer.match(path));
}

/** Queued responses per connection. Each is a request in flight, however little it cost the client to send. */
const MAX_QUEUED = 100;

/**
 * Closes the responses of pipelined requests (RFC 9112, section 9.3.2) when their connection ends before it is their
 * turn. Node 20 closes only the current one: the others would never emit `close`, and their resources would leak. A
 * connection with too many queued responses is cut.
 */
export function closeQueuedAnswers(server: Server): void {
  const queues = new WeakMap<Socket, Set<ServerResponse>>();

  const queueOf = (socket: Socket): Set<ServerResponse> => {
    const known = queues.get(socket);
    if (known !== undefined) return known;
    const queue = new Set<ServerResponse>();
    queues.set(socket, queue);
    socket.once('close', () => {
      for (const answer of queue) answer.destroy();
      // Responses that have closed by then, all of them in Node 24, have left the queue.
      setImmediate(() => {
        for (const answer of queue) answer.emit('close');
      });
    });
    return queue;
  };

  // Listeners for the end of a response are added before this, or are notified when the request's turn comes.
  server.on('request', ({ socket }: IncomingMessage, answer: ServerResponse) => {
    if (answer.socket !== null) return;
    const queue = queueOf(socket);
    queue.add(answer);
    answer.once('close', () => queue.delete(answer));
    if (queue.size > MAX_QUEUED) socket.destroy();
  });
}
