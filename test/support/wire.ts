import { connect, createServer, type Server, type Socket } from 'node:net';

/** A connection between gateway and database that a test can cut and restore. */
export class Wire {
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;
  private mode: 'open' | 'silent' = 'open';

  constructor(private readonly open: () => Socket) {
    this.server = createServer((near) => {
      const far = this.open();
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        this.sockets.add(from);
        from.on('data', (chunk) => this.mode === 'open' && to.write(chunk));
        from.on('error', () => to.destroy());
        from.on('close', () => to.destroy());
      }
    });
  }

  async listen(port = 0): Promise<number> {
    await new Promise<void>((ready) => this.server.listen(port, '127.0.0.1', ready));
    const address = this.server.address();
    if (typeof address !== 'object' || address === null) throw new Error('no port');
    return address.port;
  }

  async cut(): Promise<void> {
    const closed = new Promise((done) => this.server.close(done));
    for (const socket of this.sockets) socket.destroy();
    this.sockets.clear();
    await closed;
  }

  silence(mode: 'open' | 'silent'): void {
    this.mode = mode;
  }
}

/** How the wire reaches this worker's database, embedded (Unix socket) or on a server. */
export function dial(url: string): () => Socket {
  const parsed = new URL(url);
  const socketDir = parsed.searchParams.get('host');
  if (socketDir !== null) return () => connect(`${socketDir}/.s.PGSQL.5432`);
  return () => connect(Number(parsed.port || 5432), parsed.hostname);
}

/** The URL of the same database through the wire that listens on this port. */
export function through(url: string, port: number): string {
  const wired = new URL(url);
  wired.hostname = '127.0.0.1';
  wired.port = String(port);
  wired.searchParams.delete('host');
  return wired.href;
}
