import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { rewrapKeys } from '../src/cli/rewrap-keys.js';
import { SEALED_COLUMNS } from '../src/cli/sealed-columns.js';
import { ResponsePin } from '../src/gateway/routing/response-pin.entity.js';
import { KeyRing, parseMasterKey } from '../src/sealing/key-ring.js';
import { rewrapColumn } from '../src/sealing/rewrap.js';
import { type SealedColumn, sealedColumn } from '../src/sealing/sealed-column.js';
import { Sealer } from '../src/sealing/sealer.js';
import { VirtualKey } from '../src/virtual-keys/virtual-key.entity.js';
import { type CommandRun, runOnTestDatabase } from './support/command.js';
import { type FakeProvider, json, onlyCall, startFakeProvider } from './support/fake-provider.js';
import { GatewayClient } from './support/gateway-client.js';
import { AWS_ACCESS_KEY_ID, AWS_SECRET, BEDROCK_MODEL } from './support/rerank-gateway.js';
import { startTestApp, type TestApp } from './support/test-app.js';

const OLD = randomBytes(32).toString('base64');
const NEW = randomBytes(32).toString('base64');
const OLD_ID = parseMasterKey(OLD).id;
const NEW_ID = parseMasterKey(NEW).id;
const NEWEST = parseMasterKey(randomBytes(32).toString('base64'));
const BOTH = new Sealer(new KeyRing(parseMasterKey(NEW), [parseMasterKey(OLD)]));
/** Its mask shows the end, so that the mask of an opened value differs from the mask of an unopened one. */
const VAULT_TOKEN = 'hvs.token-of-old-0123';
const ROTATING = { TOLLGATE_ENCRYPTION_KEY: NEW, TOLLGATE_ENCRYPTION_KEYS_PREVIOUS: OLD };

let provider: FakeProvider;
let gateway: TestApp | undefined;

beforeAll(async () => {
  provider = await startFakeProvider();
  // As Cohere and as Bedrock spell it.
  provider.replyWith(json({ id: '1', results: [{ index: 0, relevance_score: 0.5, relevanceScore: 0.5 }] }));
});
afterEach(() => stop());
afterAll(() => provider.close());

/** A gateway with these master keys, on the database of the last one. */
async function start(keys: Readonly<Record<string, string>>, keepDatabase = true): Promise<TestApp> {
  gateway = await startTestApp(keys, keepDatabase);
  return gateway;
}

async function stop(): Promise<void> {
  await gateway?.close();
  gateway = undefined;
}

/** Fills a database before the rotation with virtual keys, a webhook, a secret reference and an MCP server. */
async function fillUnderOldKey(): Promise<void> {
  const { url } = await start({ TOLLGATE_ENCRYPTION_KEY: OLD }, false);
  await addVirtualKey(url, 'old');
  const options = { aws_region: 'us-east-1', aws_access_key_id: AWS_ACCESS_KEY_ID, aws_secret_access_key: AWS_SECRET };
  const config = { base_url: provider.url, ...options };
  await new GatewayClient(url).create('/v1/virtual-keys', { name: 'old-aws', provider: 'bedrock', config });
  const endpoint = { url: 'https://hooks.example.com', events: ['*'] };
  const { id } = await new GatewayClient(url).create('/v1/webhooks', endpoint);
  // So that the webhook has a previous secret as well.
  await new GatewayClient(url).post(`/v1/webhooks/${String(id)}/rotate-secret`, {});
  await new GatewayClient(url).create('/v1/secret-references', {
    name: 'old',
    manager_type: 'hashicorp_vault',
    auth_config: { vault_auth_type: 'token', vault_addr: 'https://vault.example.com', vault_token: VAULT_TOKEN },
    secret_path: 'secret/old',
  });
  const headers = { 'x-api-key': 'key-of-mcp-server' };
  await new GatewayClient(url).create('/v1/mcp-servers', { name: 'old', url: provider.url, headers });
  await stop();
}

async function addVirtualKey(url: string, slug: string): Promise<void> {
  const fields = { name: slug, provider: 'cohere', key: `key-of-${slug}`, config: { base_url: provider.url } };
  await new GatewayClient(url).create('/v1/virtual-keys', fields);
}

/** The credential that the provider receives. */
async function credentialOf({ url }: TestApp, slug: string): Promise<string | undefined> {
  provider.forget();
  const body = { model: BEDROCK_MODEL, query: 'keys', documents: ['keys', 'locks'] };
  const answer = await new GatewayClient(url).post('/v1/rerank', body, { 'x-gateway-virtual-key': slug });
  expect(answer.status).toBe(200);
  return onlyCall(provider).headers.authorization;
}

/** The distinct ids of the master keys that seal the values of the database. */
async function sealedBy({ dataSource }: TestApp): Promise<readonly string[]> {
  const ids = new Set<string>();
  for (const column of SEALED_COLUMNS) {
    for await (const { sealed } of column.values(dataSource)) ids.add(sealed.split('.')[1] ?? '');
  }
  return [...ids].sort();
}

/** Runs `npm run keys:rewrap` on this worker's database. */
function runRewrap(keys: Readonly<Record<string, string>>): Promise<CommandRun> {
  return runOnTestDatabase(rewrapKeys, [], keys);
}

/** The column, with a hook that runs before each value is replaced. */
function disturbed(column: SealedColumn, beforeReplace: () => Promise<void>): SealedColumn {
  return {
    nameIn: (source) => column.nameIn(source),
    // Each batch is one value, so that there are several.
    values: (source) => column.values(source, 1),
    replace: async (source, value, sealed) => {
      await beforeReplace();
      return column.replace(source, value, sealed);
    },
  };
}

function columnNamed(name: string, source: DataSource): SealedColumn {
  const column = SEALED_COLUMNS.find((candidate) => candidate.nameIn(source) === name);
  if (column === undefined) throw new Error(`no column ${name}`);
  return column;
}

it('lists every sealed column for rewrapping', async () => {
  const { dataSource } = await start({ TOLLGATE_ENCRYPTION_KEY: OLD }, false);
  const columns = dataSource.entityMetadatas.flatMap(({ columns, tableName }) =>
    columns
      .map(({ databaseName }) => databaseName)
      .filter((name) => name.startsWith('sealed_'))
      .map((name) => `${tableName}.${name}`),
  );
  expect(columns.length).toBeGreaterThan(0);
  expect(SEALED_COLUMNS.map((column) => column.nameIn(dataSource)).sort()).toEqual(columns.sort());
});

describe('a gateway with a new master key', () => {
  beforeAll(fillUnderOldKey);

  it('refuses to start without the previous master key and names its setting without showing it', async () => {
    const refusal = await start({ TOLLGATE_ENCRYPTION_KEY: NEW }).catch(String);
    expect(refusal).toMatch(`master key ${OLD_ID} is not configured`);
    expect(refusal).toMatch('TOLLGATE_ENCRYPTION_KEYS_PREVIOUS');
    expect(refusal).not.toContain(OLD);
    expect(refusal).not.toContain(NEW);
  });

  it('opens values of the previous master key and seals new values with the new one', async () => {
    const rotating = await start(ROTATING);
    expect(await sealedBy(rotating)).toEqual([OLD_ID]);
    await addVirtualKey(rotating.url, 'new');
    expect(await sealedBy(rotating)).toEqual([NEW_ID, OLD_ID].sort());
    expect(await credentialOf(rotating, 'old')).toBe('Bearer key-of-old');
    expect(await credentialOf(rotating, 'old-aws')).toContain(`Credential=${AWS_ACCESS_KEY_ID}/`);
    expect(await credentialOf(rotating, 'new')).toBe('Bearer key-of-new');
  });
});

describe('keys:rewrap', () => {
  beforeEach(fillUnderOldKey);

  it('re-wraps all values while a gateway serves, so that the previous key can go', async () => {
    const rotating = await start(ROTATING);
    const { key } = await new GatewayClient(rotating.url).createKey({ scopes: ['virtual_keys.read'] });
    const before = await new GatewayClient(rotating.url).read('/v1/virtual-keys/old');

    const program = await runRewrap(ROTATING);
    expect(program.stderr).toBe('');
    expect(program.code).toBe(0);
    expect(program.stdout.split('\n')).toEqual([
      'server_secrets.sealed_value: 2 re-wrapped, 0 under the current key before',
      'secret_references.sealed_auth_config: 1 re-wrapped, 0 under the current key before',
      'virtual_keys.sealed_key: 1 re-wrapped, 0 under the current key before',
      'virtual_keys.sealed_options: 1 re-wrapped, 0 under the current key before',
      'webhook_endpoints.sealed_secret: 1 re-wrapped, 0 under the current key before',
      'webhook_endpoints.sealed_previous_secret: 1 re-wrapped, 0 under the current key before',
      'mcp_servers.sealed_secrets: 1 re-wrapped, 0 under the current key before',
      'idempotency_keys.sealed_answer: 0 re-wrapped, 0 under the current key before',
      '',
    ]);
    expect(await credentialOf(rotating, 'old')).toBe('Bearer key-of-old');
    await stop();

    const rotated = await start({ TOLLGATE_ENCRYPTION_KEY: NEW });
    expect(await sealedBy(rotated)).toEqual([NEW_ID]);
    expect(await new GatewayClient(rotated.url).as(key).read('/v1/virtual-keys/old')).toEqual(before);
    expect(await new GatewayClient(rotated.url).read('/v1/secret-references/old')).toMatchObject({
      auth_config: { masked_vault_token: '****0123' },
    });
    expect(await credentialOf(rotated, 'old')).toBe('Bearer key-of-old');
    expect(await credentialOf(rotated, 'old-aws')).toContain(`Credential=${AWS_ACCESS_KEY_ID}/`);
  });

  it('refuses a table whose primary key has several columns', async () => {
    const { dataSource } = await start(ROTATING);
    expect(sealedColumn(VirtualKey, 'sealedKey').nameIn(dataSource)).toBe('virtual_keys.sealed_key');
    const pins = sealedColumn(ResponsePin, 'virtualKeyId');
    expect(() => pins.nameIn(dataSource)).toThrow('a primary key of one column');
  });

  it('names a missing master key, exits 1 and still re-wraps the rest', async () => {
    const rotating = await start(ROTATING);
    await addVirtualKey(rotating.url, 'new');
    const last = randomBytes(32).toString('base64');
    const keys = { TOLLGATE_ENCRYPTION_KEY: last, TOLLGATE_ENCRYPTION_KEYS_PREVIOUS: NEW };
    const program = await runRewrap(keys);
    expect(program.code).toBe(1);
    expect(program.stderr).toMatch(`virtual_keys.sealed_key: 1 not re-wrapped`);
    expect(program.stderr).toMatch(`master key ${OLD_ID} is not configured`);
    expect(program.stdout).toMatch('virtual_keys.sealed_key: 1 re-wrapped, 0 under');
    expect(program.stderr + program.stdout).not.toMatch(/v1\.|key-of-|Bearer/);
    for (const key of [OLD, NEW, last]) expect(program.stderr + program.stdout).not.toContain(key);
    expect(await sealedBy(rotating)).toEqual([parseMasterKey(last).id, OLD_ID].sort());
  });

  it('finishes a re-wrap that died in the middle', async () => {
    const rotating = await start(ROTATING);
    for (const slug of ['b', 'c', 'd']) await addVirtualKey(rotating.url, slug);
    const { dataSource } = rotating;
    const column = columnNamed('virtual_keys.sealed_key', dataSource);
    const newest = new Sealer(new KeyRing(NEWEST, [parseMasterKey(NEW), parseMasterKey(OLD)]));
    let replaced = 0;
    const dying = disturbed(column, async () => {
      replaced += 1;
      if (replaced === 3) throw new Error('killed');
    });
    await expect(rewrapColumn(dataSource, newest, dying)).rejects.toThrow('killed');
    const inBatches = disturbed(column, async () => undefined);
    expect(await rewrapColumn(dataSource, newest, inBatches)).toEqual({ rewrapped: 2, current: 2, refused: new Map() });
    expect(await rewrapColumn(dataSource, newest, column)).toEqual({ rewrapped: 0, current: 4, refused: new Map() });
  });

  it('does not undo a change that a gateway makes at the same time', async () => {
    const rotating = await start(ROTATING);
    const client = new GatewayClient(rotating.url);
    const column = columnNamed('virtual_keys.sealed_key', rotating.dataSource);
    let changes = 0;
    const raced = disturbed(column, async () => {
      changes += 1;
      if (changes === 1) await client.patch('/v1/virtual-keys/old', { key: 'changed-key' });
    });
    expect(await rewrapColumn(rotating.dataSource, BOTH, raced)).toMatchObject({ rewrapped: 0 });
    expect(await sealedBy(rotating)).toEqual([NEW_ID, OLD_ID].sort());
    expect(await credentialOf(rotating, 'old')).toBe('Bearer changed-key');
  });

  it('re-wraps values that a gateway sealed with the previous key meanwhile', async () => {
    const rotating = await start(ROTATING);
    const column = columnNamed('virtual_keys.sealed_key', rotating.dataSource);
    const old = new Sealer(new KeyRing(parseMasterKey(OLD)));
    let writes = 0;
    const raced = disturbed(column, async () => {
      writes += 1;
      if (writes > 1) return;
      for await (const value of column.values(rotating.dataSource)) {
        await column.replace(rotating.dataSource, value, old.seal('late-key', value.place));
      }
    });
    expect(await rewrapColumn(rotating.dataSource, BOTH, raced)).toMatchObject({ rewrapped: 1 });
    expect(await credentialOf(rotating, 'old')).toBe('Bearer late-key');
  });
});
