import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { startHttp, type Loopback } from '../../src/upstream/__fixtures__/loopback.js';

/** A request as it reached the server. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  /** Name, value, name, value …, as they were sent. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** When the connection was lost before the whole answer was sent (`performance.now`). */
  closedEarlyAt: number | undefined;
}

/** A server without MCP logic: records requests to the byte and returns the configured answer. */
export interface RawMcpServer extends Loopback {
  readonly endpoint: URL;
  /** In the order in which their bodies were complete. */
  readonly received: readonly RawRequest[];
  answerWith(listener: RequestListener): void;
  forget(): void;
}

export async function startRawMcpServer(): Promise<RawMcpServer> {
  const received: RawRequest[] = [];
  let listener: RequestListener = json({ jsonrpc: '2.0', id: 1, result: {} });
  const server = await startHttp((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const noted = note(request, Buffer.concat(chunks));
      received.push(noted);
      response.on('close', () => {
        if (!response.writableFinished) noted.closedEarlyAt = performance.now();
      });
      listener(request, response);
    });
  });
  const raw = {
    ...server,
    endpoint: server.url('/mcp'),
    received,
    answerWith: (next: RequestListener): void => {
      listener = next;
    },
    forget: (): void => void received.splice(0),
  };
  return Object.defineProperty(raw, 'connections', { get: () => server.connections });
}

function note(request: IncomingMessage, body: Buffer): RawRequest {
  const { method = '', url = '', rawHeaders } = request;
  return { method, path: url, rawHeaders: [...rawHeaders], body, closedEarlyAt: undefined };
}

export function json(value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): RequestListener {
  return (_request, response) => {
    const body = Buffer.from(JSON.stringify(value));
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length, ...headers });
    response.end(body);
  };
}

/** A head and an optional body, nothing else. */
export function plain(
  status: number,
  headers: Readonly<Record<string, string>> = {},
  body: string | Buffer = '',
): RequestListener {
  return (_request, response) => response.writeHead(status, headers).end(body);
}

/** Writes the pieces of an event stream one after the other, and by default ends it. */
export function events(pieces: readonly (string | Buffer)[], intervalMs = 0, end = true): RequestListener {
  return (_request, response) => {
    openEventStream(response);
    const next = (index: number): void => {
      const piece = pieces[index];
      if (piece === undefined) return end ? void response.end() : undefined;
      response.write(piece);
      setTimeout(() => next(index + 1), intervalMs);
    };
    next(0);
  };
}

/** A stream without any event: only its head is sent. */
export const silentEvents: RequestListener = (_request, response) => openEventStream(response);

/** Breaks the connection after the first event. */
export const brokenEvents: RequestListener = (request, response) => {
  openEventStream(response);
  response.write('data: {"half":true}\n\n', () => request.socket.destroy());
};

/** Sends `bytes` bytes in equal pieces, as fast as the client reads them. */
export function large(
  bytes: number,
  onWritten: (total: number) => void = () => undefined,
  chunk = Buffer.alloc(64 * 1024, 'x'),
  type = 'text/event-stream',
): RequestListener {
  return (_request, response) => {
    let written = 0;
    const write = (): void => {
      while (written < bytes) {
        written += chunk.length;
        onWritten(written);
        if (!response.write(chunk)) return void response.once('drain', write);
      }
      response.end();
    };
    response.writeHead(200, { 'content-type': type });
    write();
  };
}

function openEventStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.flushHeaders();
}
