import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer, type Socket } from 'node:net';
import type { TestCertificate } from './certificate.js';

/** A server on 127.0.0.1 that keeps account of what reached it. */
export interface Loopback {
  readonly origin: string;
  readonly port: number;
  /** Connections accepted so far. */
  readonly connections: number;
  readonly requests: readonly IncomingMessage[];
  /** Sockets that are open at this moment. */
  readonly open: ReadonlySet<Socket>;
  url(path: string): URL;
  close(): Promise<void>;
}

export async function startHttp(handler: RequestListener): Promise<Loopback> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    handler(request, response);
  });
  // Idle connections stay: a handler that passes on what another server said promises that one's `Keep-Alive`.
  server.keepAliveTimeout = 0;
  return listen(server, 'http', requests);
}

export async function startHttps(certificate: TestCertificate, handler: RequestListener): Promise<Loopback> {
  const requests: IncomingMessage[] = [];
  const server = createTlsServer({ key: certificate.key, cert: certificate.cert }, (request, response) => {
    requests.push(request);
    handler(request, response);
  });
  // A client that refuses the certificate is what some tests want.
  server.on('tlsClientError', () => undefined);
  return listen(server, 'https', requests);
}

/** Speaks no HTTP by itself: for answers that node:http would not send. */
export async function startTcp(onData: (socket: Socket, data: Buffer) => void): Promise<Loopback> {
  const server = createTcpServer((socket) => {
    socket.on('data', (data) => onData(socket, data));
  });
  return listen(server, 'http', []);
}

/** A port on which nothing listens. */
export async function closedPort(): Promise<number> {
  const server = await startTcp(() => undefined);
  await server.close();
  return server.port;
}

async function listen(server: Server | TcpServer, protocol: string, requests: IncomingMessage[]): Promise<Loopback> {
  const open = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    open.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = readAddress(server.address());
  const origin = `${protocol}://127.0.0.1:${port}`;
  return {
    origin,
    port,
    get connections() {
      return connections;
    },
    requests,
    open,
    url: (path) => new URL(path, origin),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}

function readAddress(address: AddressInfo | string | null): AddressInfo {
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on a port');
  return address;
}
