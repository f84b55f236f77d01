import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { eventually } from './support/eventually.js';
import { type FakeProvider, json, silence, startFakeProvider } from './support/fake-provider.js';
import { GatewayClient } from './support/gateway-client.js';
import { GatewayProcess, keysIn } from './support/gateway-process.js';
import { send } from './support/send.js';
import { ADMIN_KEY, ENCRYPTION_KEY } from './support/test-app.js';
import { testDatabase } from './support/test-database.js';

const RERANK = { model: 'rerank-v3.5', query: 'keys', documents: ['keys', 'locks'] };
const ANSWER = json({ id: '1', results: [{ index: 0, relevance_score: 0.5 }] });

// A start takes two seconds of a processor that other test files use as well.
jest.setTimeout(90_000);

let folder: string;
let started: GatewayProcess[] = [];

/** A gateway in the temporary folder, with only these settings. */
function spawnGateway(settings: Readonly<Record<string, string>>): GatewayProcess {
  const gateway = new GatewayProcess(settings, folder);
  started.push(gateway);
  return gateway;
}

/** Settings for this worker's database, on which a start is quicker than in a new folder. */
async function onTestDatabase(): Promise<Readonly<Record<string, string>>> {
  const database = await testDatabase();
  await database.empty();
  return { ...database.settings, TOLLGATE_ENCRYPTION_KEY: ENCRYPTION_KEY };
}

function firstLine({ stdout }: GatewayProcess): unknown {
  return JSON.parse(stdout.split('\n', 1).join(''));
}

/** The output of a gateway that cannot start, after it has ended with 1. */
async function complaintOf(gateway: GatewayProcess): Promise<string> {
  expect(await gateway.exitCode()).toBe(1);
  return gateway.stderr;
}

async function addVirtualKey(client: GatewayClient, provider: FakeProvider): Promise<void> {
  const config = { base_url: provider.url };
  await client.create('/v1/virtual-keys', { name: 'slow', provider: 'cohere', key: 'credential', config });
}

/** Whether the gateway refuses new connections, as it does once it stops. */
function isRefusing(url: string): Promise<boolean> {
  return send(`${url}/health/live`, { method: 'GET' }).then(
    () => false,
    () => true,
  );
}

/** A rerank on a connection that the caller keeps open. */
function rerankKeptAlive(url: string, key: string): Promise<Response> {
  const headers = { 'content-type': 'application/json', 'x-gateway-api-key': key, 'x-gateway-virtual-key': 'slow' };
  return fetch(`${url}/v1/rerank`, { method: 'POST', headers, body: JSON.stringify(RERANK) });
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-start-'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function killAll(): Promise<void> {
  await Promise.all(started.map((gateway) => gateway.kill()));
  started = [];
}

describe('a gateway without settings', () => {
  const settings = { EGRESS_ALLOW: '127.0.0.1', LOG_LEVEL: 'trace', SHUTDOWN_GRACE_MS: '30000' };
  let provider: FakeProvider;
  let adminKey: string;
  let createdKey: string;
  let second: GatewayProcess;

  beforeAll(async () => {
    provider = await startFakeProvider();
  });
  afterAll(async () => {
    await killAll();
    await provider.close();
  });

  it('prints its admin key once at the first start, and accepts the key', async () => {
    const first = spawnGateway(settings);
    const client = new GatewayClient(await first.url());
    expect(keysIn(first)).toHaveLength(1);
    [adminKey = ''] = keysIn(first);
    expect(firstLine(first)).toMatchObject({
      event: 'starting',
      version: expect.any(String),
      node: process.version,
      database: { kind: 'embedded', folder: './data' },
      migrations: { applied: expect.any(Number), last: expect.any(String) },
      redis: { kind: 'none' },
      warnings: [],
    });

    const admin = client.as(adminKey);
    await addVirtualKey(admin, provider);
    const created = await admin.createKey({ scopes: ['completions.write'] });
    await first.kill();
    createdKey = created.key;
    expect(keysIn(first)).toEqual([adminKey]);
  });

  it('prints no key at the next start, and has kept its acknowledged writes when it was killed', async () => {
    second = spawnGateway(settings);
    const url = await second.url();
    expect(keysIn(second)).toEqual([]);
    expect((await new GatewayClient(url).as(adminKey).get('/v1/virtual-keys/slow')).status).toBe(200);

    provider.replyWith(ANSWER);
    expect((await rerankKeptAlive(url, createdKey)).status).toBe(200);
    expect(provider.calls[0]?.headers.authorization).toBe('Bearer credential');
  });

  it('locks its folder: another gateway exits 1 and names the folder', async () => {
    const complaint = await complaintOf(spawnGateway(settings));
    expect(complaint).toContain(`${join(folder, 'data')} is in use`);
    expect(complaint.trimEnd().split('\n')).toHaveLength(1);
  });

  it('lets a request in flight finish after SIGTERM, and then ends with 0 without further waiting', async () => {
    const held: (() => void)[] = [];
    provider.replyWith((response, call) => held.push(() => ANSWER(response, call)));
    const url = await second.url();
    const answer = rerankKeptAlive(url, createdKey);
    await eventually(() => held.length === 1);
    second.signal('SIGTERM');
    await eventually(() => isRefusing(url));

    const repliedAt = Date.now();
    held[0]?.();
    const { status, headers } = await answer;
    expect(status).toBe(200);
    expect(headers.get('connection')).toBe('close');
    expect(await second.exitCode()).toBe(0);
    expect(Date.now() - repliedAt).toBeLessThan(15_000);
    expect(existsSync(join(folder, 'data', 'gateway.lock'))).toBe(false);
  });
});

describe('a gateway with a hanging request', () => {
  const GRACE_MS = 700;
  let provider: FakeProvider;
  let settings: Readonly<Record<string, string>>;
  let gateway: GatewayProcess;
  let url: string;

  beforeAll(async () => {
    provider = await startFakeProvider();
    provider.replyWith(silence);
    settings = {
      ...(await onTestDatabase()),
      EGRESS_ALLOW: '127.0.0.1',
      TOLLGATE_ADMIN_KEY: ADMIN_KEY,
      SHUTDOWN_GRACE_MS: String(GRACE_MS),
    };
    gateway = spawnGateway(settings);
    url = await gateway.url();
    await addVirtualKey(new GatewayClient(url), provider);
  });
  afterAll(async () => {
    await killAll();
    await provider.close();
  });

  it('does not print the admin key that its operator chose', () => expect(keysIn(gateway)).toEqual([]));

  it('keeps its port: another gateway exits 1 and names the port', async () => {
    const { port } = new URL(url);
    const complaint = await complaintOf(spawnGateway({ ...settings, PORT: port }));
    expect(complaint).toContain(`address already in use 127.0.0.1:${port}`);
    expect(complaint.trimEnd().split('\n')).toHaveLength(1);
  });

  it('aborts a request in flight when the grace time is over, and ends with 0', async () => {
    const answer = rerankKeptAlive(url, ADMIN_KEY).then(
      () => 'answered',
      () => 'cut off',
    );
    await eventually(() => provider.calls.length === 1);
    const stoppedAt = Date.now();
    gateway.signal('SIGTERM');
    expect(await answer).toBe('cut off');
    expect(Date.now() - stoppedAt).toBeGreaterThanOrEqual(GRACE_MS - 50);
    expect(await gateway.exitCode()).toBe(0);
    await eventually(() => provider.calls[0]?.closedEarly === true);
  });
});

describe('a gateway that is given time to leave its load balancer', () => {
  afterAll(killAll);

  it('serves on after SIGTERM, and is not ready, until the drain delay is over; connections end with their answers', async () => {
    const settings = { ...(await onTestDatabase()), SHUTDOWN_DELAY_MS: '3000', TOLLGATE_ADMIN_KEY: ADMIN_KEY };
    const gateway = spawnGateway(settings);
    const url = await gateway.url();
    const status = async (path: string): Promise<number> => (await new GatewayClient(url).get(path)).status;
    const connection = async (): Promise<unknown> => (await fetch(`${url}/health/live`)).headers.get('connection');
    expect([await status('/health/ready'), await connection()]).toEqual([200, 'keep-alive']);
    const signalledAt = Date.now();
    gateway.signal('SIGTERM');
    await eventually(async () => (await status('/health/ready')) === 503);
    expect([await status('/health/live'), await status('/v1/api-keys')]).toEqual([200, 200]);
    expect(await connection()).toBe('close');
    await eventually(() => isRefusing(url));
    expect(Date.now() - signalledAt).toBeGreaterThanOrEqual(2_950);
    expect(await gateway.exitCode()).toBe(0);
  });
});

describe('a gateway in production', () => {
  afterAll(killAll);

  it('prints no admin key at its first start, but says how to get one, and writes only JSON to its log', async () => {
    const gateway = spawnGateway({ ...(await onTestDatabase()), NODE_ENV: 'production' });
    const url = await gateway.url();
    expect(keysIn(gateway)).toEqual([]);
    expect(gateway.stdout).toContain('npm run keys:admin');
    for (const line of gateway.stderr.split('\n').filter(Boolean)) expect(JSON.parse(line)).toHaveProperty('event');
    expect((await new GatewayClient(url).get('/health/ready')).status).toBe(200);
    const events = gateway.stdout.trimEnd().split('\n');
    expect(events.map((line) => Object(JSON.parse(line)).event)).toEqual(['starting', 'no_admin_key', 'listening']);
  });
});

describe('a gateway whose log has no reader any more', () => {
  afterAll(killAll);

  it('serves on when its log has no reader any more, and ends on SIGTERM', async () => {
    const gateway = spawnGateway({ ...(await onTestDatabase()), TOLLGATE_ADMIN_KEY: ADMIN_KEY });
    const client = new GatewayClient(await gateway.url());
    // Makes lines of 4 KB.
    const metadata = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`k${index}`, 'x'.repeat(128)]));
    const headers = { 'x-gateway-metadata': JSON.stringify(metadata) };
    gateway.leaveOutput();
    for (let time = 0; time < 300; time += 1) expect((await client.get('/v1/api-keys', headers)).status).toBe(200);
    gateway.signal('SIGTERM');
    await eventually(() => gateway.hasEnded);
    expect(await gateway.exitCode()).toBe(0);
  });
});
