import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { eventually } from './support/eventually.js';
import { GatewayClient } from './support/gateway-client.js';
import { GatewayProcess, keysIn } from './support/gateway-process.js';
import { makeOwnDatabase, type OwnDatabase } from './support/own-database.js';
import { databaseServer, onServer } from './support/services.js';
import { ENCRYPTION_KEY } from './support/test-app.js';

// A start takes two seconds of a processor that other test files use as well.
jest.setTimeout(90_000);

let folder: string;
let started: GatewayProcess[] = [];

/** A gateway in the temporary folder, on this database. */
function spawnGateway(databaseUrl: string): GatewayProcess {
  const settings = { DATABASE_URL: databaseUrl, TOLLGATE_ENCRYPTION_KEY: ENCRYPTION_KEY };
  const gateway = new GatewayProcess(settings, folder);
  started.push(gateway);
  return gateway;
}

async function killAll(): Promise<void> {
  await Promise.all(started.map((gateway) => gateway.kill()));
  started = [];
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-start-together-'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

onServer('gateways that start together on an empty database (needs DATABASE_URL: a folder has one gateway)', () => {
  let database: OwnDatabase;

  beforeAll(async () => {
    database = await makeOwnDatabase(databaseServer ?? '');
  });
  afterAll(async () => {
    await killAll();
    await database.drop();
  });

  it('makes one organisation and one admin key when two gateways start together, and both accept the key', async () => {
    const gateways = [spawnGateway(database.url), spawnGateway(database.url)];
    const urls = await Promise.all(gateways.map((gateway) => gateway.url()));
    const [key = '', ...more] = gateways.flatMap((gateway) => keysIn(gateway));
    expect(more).toEqual([]);
    for (const url of urls) expect((await new GatewayClient(url).as(key).get('/v1/api-keys')).status).toBe(200);
    expect(await countRows(database.url)).toEqual({ organisations: 1, workspaces: 1, api_keys: 1, virtual_keys: 1 });
  });
});

onServer('a start while another gateway migrates (needs DATABASE_URL: a folder has one gateway)', () => {
  let database: OwnDatabase;
  let other: Client;

  beforeAll(async () => {
    database = await makeOwnDatabase(databaseServer ?? '');
    other = new Client({ connectionString: database.url });
    await other.connect();
    await other.query('SELECT pg_advisory_lock($1)', [7_160_233]);
  });
  afterAll(async () => {
    await killAll();
    await other.end();
    await database.drop();
  });

  it('logs that it waits for another start, handles a signal, and goes on when the other has finished', async () => {
    const [stopped, waiting] = [spawnGateway(database.url), spawnGateway(database.url)];
    for (const gateway of [stopped, waiting]) {
      await eventually(() => gateway.stderr.includes('Another gateway is bringing the tables'), 60_000);
    }
    stopped.signal('SIGTERM');
    expect(await stopped.exitCode()).toBe(128 + 15);
    await other.query('SELECT pg_advisory_unlock($1)', [7_160_233]);
    expect(await waiting.url()).toMatch(/^http/);
  });
});

async function countRows(url: string): Promise<object> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const counts = ['organisations', 'workspaces', 'api_keys', 'virtual_keys'].map(
      (table) => `(SELECT count(*)::int FROM "${table}") AS "${table}"`,
    );
    return (await client.query<object>(`SELECT ${counts.join(', ')}`)).rows[0] ?? {};
  } finally {
    await client.end();
  }
}
