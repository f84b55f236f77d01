import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { eventually } from './support/eventually.js';
import { GatewayClient } from './support/gateway-client.js';
import { makeOwnDatabase, type OwnDatabase } from './support/own-database.js';
import { refusalOf } from './support/send.js';
import { databaseServer, onServer } from './support/services.js';
import { ADMIN_KEY, startTestApp, type TestApp } from './support/test-app.js';
import { testDatabase } from './support/test-database.js';
import { dial, through, Wire } from './support/wire.js';

describe('a database that cannot be reached', () => {
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
    app = await startTestApp({ DATABASE_URL: through(url, port) });
  });

  afterAll(async () => {
    await app.close();
    await wire.cut();
  });

  it('lists resources and is ready before the connection is cut', async () => {
    expect((await list()).status).toBe(200);
    expect((await fetch(`${app.url}/health/ready`)).status).toBe(200);
  });

  it('returns store_unavailable while the connection is cut, then recovers without a restart', async () => {
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

  it('returns store_unavailable within 15 seconds when the database is silent', async () => {
    wire.silence('silent');
    const startedAt = Date.now();
    const refused = await list();
    expect(refused.status).toBe(503);
    expect(Date.now() - startedAt).toBeLessThan(15_000);
    wire.silence('open');
  });
});

onServer(
  'when a statement waits for what another session holds (needs DATABASE_URL: the embedded one has a single session)',
  () => {
    let app: TestApp;
    let admin: GatewayClient;
    let session: Client;
    let wire: Wire;

    beforeAll(async () => {
      if (databaseServer === undefined) return;
      const { url } = await testDatabase();
      wire = new Wire(dial(url));
      app = await startTestApp({ DATABASE_URL: through(url, await wire.listen()) });
      admin = new GatewayClient(app.url);
      session = new Client({ connectionString: url });
      await session.connect();
    });

    afterAll(async () => {
      await session.end();
      await app.close();
      await wire.cut();
    });

    async function heldUp(name: string, meanwhile: () => Promise<void>): Promise<void> {
      await session.query('BEGIN; LOCK TABLE "workspaces" IN SHARE MODE');
      const refused = admin.post('/v1/workspaces', { name });
      await meanwhile();
      expect(refusalOf(await refused)).toMatchObject({ status: 503, code: 'store_unavailable' });
      await session.query('ROLLBACK');
    }

    async function named(name: string): Promise<number> {
      return (await admin.list('/v1/workspaces?page_size=100')).filter((workspace) => workspace['name'] === name)
        .length;
    }

    it("sets a statement timeout that ends before the gateway's own timeout", async () => {
      expect(await app.dataSource.query('SHOW statement_timeout')).toEqual([{ statement_timeout: '4500ms' }]);
    });

    it('refuses only the blocked change and does not apply it later', async () => {
      await heldUp('Held up', async () => {
        for (let each = 0; each < 3; each += 1) await admin.list('/v1/api-keys');
      });
      for (let each = 0; each < 3; each += 1) expect((await admin.get('/v1/workspaces')).status).toBe(200);
      expect(await named('Held up')).toBe(0);
    });

    it('does not apply a timed-out change when the connection was silent meanwhile', async () => {
      await heldUp('Unheard', async () => {
        await session.query('SELECT pg_sleep(1)');
        wire.silence('silent');
      });
      wire.silence('open');
      await admin.create('/v1/workspaces', { name: 'Another' });
      expect([await named('Unheard'), await named('Another')]).toEqual([0, 1]);
    });
  },
);

onServer('a database that accepts no writes (needs DATABASE_URL: the setting applies to new connections)', () => {
  let app: TestApp;
  let admin: GatewayClient;
  let primary: Client;
  let name: string;

  beforeAll(async () => {
    if (databaseServer === undefined) return;
    const { url } = await testDatabase();
    name = new URL(url).pathname.slice(1);
    app = await startTestApp({ DATABASE_POOL_SIZE: '2' });
    admin = new GatewayClient(app.url);
    primary = new Client({ connectionString: url });
    await primary.connect();
  });
  afterAll(async () => {
    await primary.query(`ALTER DATABASE "${name}" RESET default_transaction_read_only`);
    await primary.end();
    await app.close();
  });

  /** A failover to a standby: every connection breaks, and the next ones reach another server. */
  async function failOver(): Promise<void> {
    await primary.query(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
    await primary.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND application_name = 'tollgate'`,
      [name],
    );
  }

  async function readiness(): Promise<number> {
    return (await fetch(`${app.url}/health/ready`)).status;
  }

  it('serves reads, refuses changes and is not ready on a standby, then recovers', async () => {
    expect(await readiness()).toBe(200);
    await failOver();
    await eventually(async () => (await admin.get('/v1/workspaces')).status === 200);
    for (let each = 0; each < 3; each += 1) {
      expect(await readiness()).toBe(503);
      const refused = await admin.post('/v1/workspaces', { name: 'Standby' });
      expect(refusalOf(refused)).toMatchObject({ status: 503, code: 'store_unavailable' });
    }
    expect((await fetch(`${app.url}/health/live`)).status).toBe(200);
    expect(app.log()).not.toContain('"event":"defect"');

    await primary.query(`ALTER DATABASE "${name}" RESET default_transaction_read_only`);
    // At most the connections that were opened meanwhile.
    const tries = [await readiness(), await readiness(), await readiness()];
    expect(tries.at(-1)).toBe(200);
    await admin.create('/v1/workspaces', { name: 'Primary' });
  });
});

onServer('a database that accepts no connections', () => {
  let app: TestApp;
  let database: OwnDatabase;
  let elsewhere: Client;
  let name: string;

  const permit = (allowed: boolean): Promise<unknown> =>
    elsewhere.query(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS ${allowed}`);

  beforeAll(async () => {
    if (databaseServer === undefined) return;
    database = await makeOwnDatabase(databaseServer);
    name = new URL(database.url).pathname.slice(1);
    app = await startTestApp({ DATABASE_URL: database.url }, true);
    elsewhere = new Client({ connectionString: databaseServer });
    await elsewhere.connect();
  });

  afterAll(async () => {
    await app?.close();
    await elsewhere?.end();
    await database?.drop();
  });

  it('returns store_unavailable while the database refuses connections, then recovers', async () => {
    await permit(false);
    await elsewhere.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
    const admin = new GatewayClient(app.url);
    await eventually(async () => (await admin.get('/health/ready')).status !== 200);
    expect(refusalOf(await admin.get('/health/ready'))).toMatchObject({ status: 503, code: 'store_unavailable' });
    expect(refusalOf(await admin.get('/v1/workspaces'))).toMatchObject({ status: 503, code: 'store_unavailable' });
    await permit(true);
    await eventually(async () => (await admin.get('/v1/workspaces')).status === 200);
    expect((await admin.get('/health/ready')).status).toBe(200);
  });
});
