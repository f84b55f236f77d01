import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { copyEmbeddedDatabase } from '../src/cli/copy-database.js';
import { type CommandRun, runWithSettings } from './support/command.js';
import { eventually } from './support/eventually.js';
import { type FakeProvider, onlyCall, startFakeProvider } from './support/fake-provider.js';
import { GatewayClient } from './support/gateway-client.js';
import { makeOwnDatabase, type OwnDatabase } from './support/own-database.js';
import { databaseServer, onServer } from './support/services.js';
import { startTestApp, type TestApp } from './support/test-app.js';
import { scored } from './support/usage-gateway.js';

const RERANK = { model: 'rerank-v3.5', query: 'keys', documents: ['keys', 'locks'] };
/** A random key, which has no owner. */
const OTHER_KEY = randomBytes(32).toString('base64');

jest.setTimeout(120_000);

let folder: string;
let provider: FakeProvider;
let gateway: TestApp | undefined;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-move-'));
  provider = await startFakeProvider();
  provider.replyWith(scored());
});
afterAll(async () => {
  await provider.close();
  rmSync(folder, { recursive: true, force: true });
});
afterEach(() => stop());

function dataDir(): string {
  return join(folder, 'data');
}

/** A gateway on the embedded database of the folder, unless the settings name another database. */
async function start(settings: Readonly<Record<string, string>> = {}): Promise<GatewayClient> {
  const embedded = { DATA_DIR: dataDir(), DATABASE_URL: '', TOLLGATE_ENCRYPTION_KEY: '' };
  gateway = await startTestApp({ ...embedded, ...settings }, true);
  return new GatewayClient(gateway.url);
}

async function stop(): Promise<void> {
  await gateway?.close();
  gateway = undefined;
}

/** Runs `npm run database:copy` on the folder. */
function copy(settings: Readonly<Record<string, string>>, words: readonly string[] = []): Promise<CommandRun> {
  return runWithSettings(copyEmbeddedDatabase, words, { DATA_DIR: dataDir(), ...settings });
}

/** Creates one resource of each kind. */
async function fill(): Promise<void> {
  const admin = await start();
  await admin.createKey({ scopes: ['completions.write'] });
  const config = { base_url: provider.url };
  await admin.create('/v1/virtual-keys', { name: 'cohere', provider: 'cohere', key: 'credential', config });
  const conditions = [{ key: 'provider', value: 'cohere' }];
  const limit = { name: 'All', conditions, group_by: [{ key: 'api_key' }], type: 'cost', credit_limit: 1 };
  await admin.create('/v1/policies/usage-limits', limit);
  await admin.create('/v1/webhooks', { url: 'https://hooks.example.com', events: ['*'] });
  const headers = { 'x-api-key': 'key-of-server' };
  await admin.create('/v1/mcp-servers', { name: 'tools', url: `${provider.url}/mcp`, headers });
  await rerank(admin);
  await eventually(async () => (await countedFor(admin)).includes('0.002'));
  await stop();
}

async function rerank(client: GatewayClient): Promise<void> {
  provider.forget();
  const answer = await client.post('/v1/rerank', RERANK, { 'x-gateway-virtual-key': 'cohere' });
  expect(answer.status).toBe(200);
  expect(onlyCall(provider).headers.authorization).toBe('Bearer credential');
}

/** The groups of the only policy, as text. */
async function countedFor(client: GatewayClient): Promise<string> {
  const [policy] = await client.list('/v1/policies/usage-limits');
  return (await client.get(`/v1/policies/usage-limits/${String(policy?.['id'])}/entities`)).text;
}

onServer('database:copy (needs DATABASE_URL for a database to copy into)', () => {
  const LISTS = ['api-keys', 'virtual-keys', 'webhooks', 'mcp-servers', 'audit-logs', 'policies/usage-limits'];
  let database: OwnDatabase;
  let masterKey: string;

  beforeAll(async () => {
    database = await makeOwnDatabase(databaseServer ?? '');
    await fill();
    masterKey = readFileSync(join(dataDir(), 'encryption.key'), 'utf8');
  });
  afterAll(() => database.drop());

  async function tables(): Promise<number> {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const { rowCount } = await client.query(`SELECT FROM pg_tables WHERE schemaname = 'public'`);
    await client.end();
    return rowCount ?? 0;
  }

  const settings = (key: string): Readonly<Record<string, string>> => ({
    DATABASE_URL: database.url,
    TOLLGATE_ENCRYPTION_KEY: key,
  });

  describe('refusals of database:copy', () => {
    afterEach(async () => expect(await tables()).toBe(0));

    it.each([
      ['words', ['--help'], {}, 'usage: npm run database:copy', 2],
      ['no place to copy into', [], { DATABASE_URL: '' }, 'DATABASE_URL is not set', 1],
      ['a folder without a database', [], { DATA_DIR: 'elsewhere' }, 'no embedded database in elsewhere', 1],
      ['a database that is not there', [], { DATABASE_URL: 'postgres://127.0.0.1:1/x' }, 'ECONNREFUSED', 1],
      ['a wrong setting', [], { PORT: 'http' }, '- PORT ', 1],
    ])('copies nothing for %s', async (_what, words, wrong, message, code) => {
      const program = await copy({ ...settings(masterKey), ...wrong }, words);
      expect([program.stdout, program.code]).toEqual(['', code]);
      expect(program.stderr).toContain(message);
      expect(program.stderr).not.toMatch(/^\s+at /m);
      expect(readdirSync(folder)).toEqual(['data']);
    });

    it('copies nothing under a wrong master key and names the matching one without showing it', async () => {
      const program = await copy(settings(OTHER_KEY));
      expect([program.stdout, program.code]).toEqual(['', 1]);
      expect(program.stderr).toMatch(
        /server_secrets.sealed_value: \d not opened: .*master key \w{8} is not configured/,
      );
      expect(program.stderr).toContain(`the content of ${join(dataDir(), 'encryption.key')}`);
      expect(program.stderr).not.toContain(masterKey);
      expect(program.stderr).not.toContain(OTHER_KEY);
    });

    it('copies nothing while a gateway uses the folder', async () => {
      await start();
      const program = await copy(settings(masterKey));
      expect(program.code).toBe(1);
      expect(program.stderr).toContain(`is in use by another gateway (process ${process.pid})`);
    });
  });

  describe('a database that was copied', () => {
    let before: readonly string[];

    // It changes with the key that reads the lists.
    const LAST_USE = /"last_used_at":(?:\d+|null),?/g;

    async function lists(client: GatewayClient): Promise<readonly string[]> {
      return Promise.all(LISTS.map(async (name) => (await client.get(`/v1/${name}`)).text.replaceAll(LAST_USE, '')));
    }

    beforeAll(async () => {
      const admin = await start();
      before = [...(await lists(admin)), await countedFor(admin)];
      await stop();
      const program = await copy(settings(masterKey));
      expect([program.stderr, program.code]).toEqual(['', 0]);
      const counts = ['organisations: 1', 'api_keys: 2', 'virtual_keys: 2', 'usage_events: 1', 'mcp_servers: 1'];
      for (const count of counts) expect(program.stdout).toContain(`${count} copied\n`);
    });

    it('keeps keys, credentials and counts in the copied database, also under another master key', async () => {
      const moved = { ...settings(OTHER_KEY), TOLLGATE_ENCRYPTION_KEYS_PREVIOUS: masterKey };
      const admin = await start(moved);
      expect([...(await lists(admin)), await countedFor(admin)]).toEqual(before);
      await rerank(admin);
      await eventually(async () => (await countedFor(admin)).includes('0.004'));
      const created = await admin.create('/v1/virtual-keys', { name: 'new', provider: 'local' });
      expect(created['slug']).toBe('new');
    });

    it('does not copy into a database that has rows', async () => {
      const program = await copy(settings(masterKey));
      expect([program.stdout, program.code]).toEqual(['', 1]);
      expect(program.stderr).toMatch(
        /^Nothing was copied: the database of DATABASE_URL is not empty: its table \w+ has rows\n$/,
      );
    });
  });
});
