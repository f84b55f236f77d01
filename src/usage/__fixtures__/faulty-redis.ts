import { createServer, type Server, type Socket } from 'node:net';
import { Redis } from 'ioredis';

/** Accepts connections of Redis clients, and answers nothing, or an error to whatever is sent. */
export class FaultyRedis {
  /** What clients sent. */
  received = '';
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;
  private readonly clients: Redis[] = [];

  constructor(error?: string) {
    this.server = createServer((socket) => {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => {
        this.received += chunk.toString();
        if (error !== undefined) socket.write(`-${error}\r\n`);
      });
    });
  }

  /** A client that takes it for a Redis. */
  async client(): Promise<Redis> {
    await new Promise<void>((ready) => this.server.listen(0, '127.0.0.1', ready));
    const address = this.server.address();
    if (typeof address !== 'object' || address === null) throw new Error('no port');
    const client = new Redis(address.port, '127.0.0.1', {
      enableReadyCheck: false,
      enableOfflineQueue: false,
      disableClientInfo: true,
      lazyConnect: true,
    });
    client.on('error', () => undefined);
    this.clients.push(client);
    await client.connect();
    return client;
  }

  async close(): Promise<void> {
    for (const client of this.clients) client.disconnect();
    for (const socket of this.sockets) socket.destroy();
    await new Promise((done) => this.server.close(done));
  }
}
