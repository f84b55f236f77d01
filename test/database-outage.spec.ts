import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_KEY, startTestApp, type TestApp } from './support/test-app.js';
import { testDatabase } from './support/test-database.js';

/** A wire between gateway and database that a test can cut, and mend again. */
class Wire {
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
function dial(url: string): () => Socket {
  const parsed = new URL(url);
  const socketDir = parsed.searchParams.get('host');
  if (socketDir !== null) return () => connect(`${socketDir}/.s.PGSQL.5432`);
  return () => connect(Number(parsed.port || 5432), parsed.hostname);
}

describe('when the database cannot be reached', () => {
  let app: TestApp;
  let wire: Wire;
  let port: number;

  const list = (): Promise<Response> =>
    fetch(`${app.url}/v1/workspaces`, {
      headers: { 'x-gateway-api-key': ADMIN_KEY },
      signal: AbortSignal.timeout(20_000),
    });

  beforeAll(async () => {
    const { url } = await testDatabase();
    wire = new Wire(dial(url));
    port = await wire.listen();
    const wired = new URL(url);
    wired.hostname = '127.0.0.1';
    wired.port = String(port);
    wired.searchParams.delete('host');
    app = await startTestApp({ DATABASE_URL: wired.href });
  });

  afterAll(async () => {
    await app.close();
    await wire.cut();
  });

  it('serves before', async () => {
    expect((await list()).status).toBe(200);
    expect((await fetch(`${app.url}/health/ready`)).status).toBe(200);
  });

  it('answers store_unavailable and is not ready while the connection is cut, then recovers by itself', async () => {
    await wire.cut();
    const refused = await list();
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ error: { code: 'store_unavailable', source: 'gateway' } });
    expect((await fetch(`${app.url}/health/ready`)).status).toBe(503);
    expect((await fetch(`${app.url}/health/live`)).status).toBe(200);

    wire = new Wire(dial((await testDatabase()).url));
    await wire.listen(port);
    expect((await list()).status).toBe(200);
  });

  it('answers store_unavailable when the database is silent, and never hangs', async () => {
    wire.silence('silent');
    const startedAt = Date.now();
    const refused = await list();
    expect(refused.status).toBe(503);
    expect(Date.now() - startedAt).toBeLessThan(15_000);
    wire.silence('open');
  });
});
