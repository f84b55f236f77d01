import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_KEY, startTestApp, type TestApp } from './support/test-app.js';
import { testDatabase } from './support/test-database.js';
import { dial, through, Wire } from './support/wire.js';

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
    app = await startTestApp({ DATABASE_URL: through(url, port) });
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
