import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { readString } from '../src/common/json/read.js';
import { openDataSource } from '../src/usage/__fixtures__/postgres-harness.js';
import { usageDrift } from '../src/usage/drift.js';
import { rollupDrift } from '../src/usage/rollup-drift.js';
import { UsageEvent } from '../src/usage/usage-event.entity.js';
import { UsageReservation } from '../src/usage/usage-reservation.entity.js';
import { eventually } from './support/eventually.js';
import { type FakeProvider, silence, startFakeProvider } from './support/fake-provider.js';
import { GatewayClient } from './support/gateway-client.js';
import { GatewayProcess } from './support/gateway-process.js';
import { readStream } from './support/read-stream.js';
import { type Answer, send } from './support/send.js';
import { ADMIN_KEY, ENCRYPTION_KEY } from './support/test-app.js';
import { testDatabase } from './support/test-database.js';
import { COST_NANO, REQUEST, scored } from './support/usage-gateway.js';

const GRACE_MS = 1_500;
const TEXT = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n';
const DONE = 'data: [DONE]\n\n';
const USAGE = `data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n${DONE}`;

jest.setTimeout(90_000);

let folder: string;
let provider: FakeProvider;
let gateway: GatewayProcess;
let url: string;
let headers: Readonly<Record<string, string>>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-shutdown-'));
  provider = await startFakeProvider();
});
afterEach(() => gateway.kill());
afterAll(async () => {
  await provider.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A gateway of its own with a limit, and an empty ledger. */
async function start(kind: string): Promise<void> {
  const database = await testDatabase();
  await database.empty();
  provider.forget();
  gateway = new GatewayProcess(
    {
      ...database.settings,
      TOLLGATE_ENCRYPTION_KEY: ENCRYPTION_KEY,
      TOLLGATE_ADMIN_KEY: ADMIN_KEY,
      EGRESS_ALLOW: '127.0.0.1',
      SHUTDOWN_GRACE_MS: String(GRACE_MS),
    },
    folder,
  );
  url = await gateway.url();
  const admin = new GatewayClient(url);
  const key = { name: kind, provider: kind, key: 'k', config: { base_url: provider.url } };
  const slug = readString((await admin.create('/v1/virtual-keys', key))['slug'], 'slug');
  await admin.create('/v1/policies/usage-limits', {
    conditions: [{ key: 'model', value: '*' }],
    group_by: [{ key: 'api_key' }],
    type: kind === 'cohere' ? 'cost' : 'tokens',
    credit_limit: kind === 'cohere' ? 1 : 100_000,
  });
  headers = { 'content-type': 'application/json', 'x-gateway-api-key': ADMIN_KEY, 'x-gateway-virtual-key': slug };
}

/** The same, with a call that its provider has received. */
async function startWithCall(): Promise<{ readonly answer: Promise<Answer> }> {
  await start('cohere');
  const answer = send(`${url}/v1/rerank`, { body: JSON.stringify(REQUEST), headers });
  await eventually(() => provider.calls.length === 1);
  // Wrapped, so that it is not awaited here.
  return { answer };
}

async function withBooks(check: (books: DataSource) => Promise<void>): Promise<void> {
  const books = await openDataSource();
  try {
    await check(books);
  } finally {
    await books.destroy();
  }
}

async function expectOneRow(row: object): Promise<void> {
  await withBooks(async (books) => {
    expect(await books.getRepository(UsageReservation).countBy({ isWithdrawn: false })).toBe(0);
    expect(await books.getRepository(UsageEvent).find()).toEqual([expect.objectContaining(row)]);
    expect(await usageDrift(books)).toEqual([]);
    expect(await rollupDrift(books)).toEqual([]);
  });
}

it('answers and settles a call that ends within the grace time', async () => {
  let release: () => void = () => undefined;
  provider.replyWith((response, call) => {
    release = () => scored()(response, call);
  });
  const { answer } = await startWithCall();
  gateway.signal('SIGTERM');
  await new Promise((resolve) => setTimeout(resolve, 200));
  release();
  expect((await answer).status).toBe(200);
  expect(await gateway.exitCode()).toBe(0);
  await expectOneRow({ outcome: 'answered', costNano: String(COST_NANO), source: 'provider' });
});

it('presumes the cost of a call that the shutdown cuts off', async () => {
  provider.replyWith(silence);
  const { answer } = await startWithCall();
  gateway.signal('SIGTERM');
  await expect(answer).rejects.toThrow();
  expect(await gateway.exitCode()).toBe(0);
  await expectOneRow({ source: 'presumed', costNano: String(COST_NANO) });
});

it('lets streams go on beyond the grace time, until a second signal', async () => {
  const streams: ServerResponse[] = [];
  provider.replyWith((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(TEXT);
    streams.push(response);
  });
  await start('openai-compatible');
  const body = { model: 'm', messages: [], max_tokens: 20, stream: true };
  const first = readStream(`${url}/v1/chat/completions`, headers, body);
  const second = readStream(`${url}/v1/chat/completions`, headers, body);
  await eventually(() => streams.length === 2);
  gateway.signal('SIGTERM');
  await new Promise((resolve) => setTimeout(resolve, GRACE_MS + 500));
  for (const stream of streams) stream.write(TEXT);
  streams[0]?.end(USAGE);
  expect(await Promise.race([first, second])).toMatchObject({ status: 200, text: TEXT + TEXT + DONE, end: 'whole' });
  expect(gateway.hasEnded).toBe(false);
  gateway.signal('SIGTERM');
  const ends = (await Promise.all([first, second])).map(({ end }) => end);
  expect(ends.toSorted()).toEqual(['broken', 'whole']);
  expect(await gateway.exitCode()).toBe(0);
  await withBooks(async (books) => {
    expect(await books.getRepository(UsageReservation).countBy({ isWithdrawn: false })).toBe(0);
    const outcomes = (await books.getRepository(UsageEvent).find()).map(({ outcome }) => outcome);
    expect(outcomes.toSorted()).toEqual(['answered', 'cancelled']);
    expect(await usageDrift(books)).toEqual([]);
    expect(await rollupDrift(books)).toEqual([]);
  });
});
