import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { GatewayClient } from './support/gateway-client.js';
import { makeOwnDatabase, type OwnDatabase } from './support/own-database.js';
import { type Answer, jsonOf } from './support/send.js';
import { databaseServer, onServer } from './support/services.js';
import { startTestApp, type TestApp } from './support/test-app.js';

const DEFAULTS = {
  datestyle: "'SQL, DMY'",
  timezone: "'Pacific/Auckland'",
  default_transaction_isolation: 'serializable',
  standard_conforming_strings: 'off',
  // The statement that removes these defaults runs under them too: they must be long enough for a busy machine.
  statement_timeout: "'1s'",
  lock_timeout: "'1s'",
};
const HOUR_MS = 3_600_000;

function rerankBy(caller: GatewayClient): Promise<Answer> {
  const rerank = { model: 'bm25', query: 'a\\b', documents: ['a\\b', 'c'] };
  return caller.post('/v1/rerank', rerank, { 'x-gateway-virtual-key': 'local' });
}

onServer('a database with unusual defaults (needs DATABASE_URL)', () => {
  let database: OwnDatabase;
  let gateway: TestApp;
  let client: GatewayClient;

  beforeAll(async () => {
    database = await makeOwnDatabase(databaseServer ?? '', DEFAULTS);
    gateway = await startTestApp({ DATABASE_URL: database.url });
    client = new GatewayClient(gateway.url);
  });
  afterAll(async () => {
    await gateway.close();
    await database.drop();
  });

  it('returns expiry times unchanged and expires keys on time', async () => {
    const expiresAt = Math.floor(Date.now() / 1_000) + 600;
    const made = await client.create('/v1/api-keys', {
      name: 'short',
      workspace_id: 'default',
      scopes: ['completions.write'],
      expires_at: expiresAt,
    });
    expect(jsonOf(await client.get(`/v1/api-keys/${String(made['id'])}`))).toMatchObject({ expires_at: expiresAt });
    const short = client.as(String(made['key']));
    expect((await rerankBy(short)).status).toBe(200);
    gateway.clock.advance(HOUR_MS);
    expect((await rerankBy(short)).status).toBe(401);
  });

  it('reports usage under unusual database defaults', async () => {
    expect((await client.get('/v1/usage')).status).toBe(200);
  });

  it('uses the isolation level that the statements are written for', async () => {
    expect(await gateway.dataSource.query('SHOW transaction_isolation')).toEqual([
      { transaction_isolation: 'read committed' },
    ]);
  });

  it.each([
    ['statement_timeout', '4500ms'],
    ['lock_timeout', '0'],
  ])("sets the gateway's own value of %s", async (name, value) => {
    expect(await gateway.dataSource.query(`SHOW ${name}`)).toEqual([{ [name]: value }]);
  });
});
