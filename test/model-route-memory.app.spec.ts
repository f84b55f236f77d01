// Model routes in the memory of each gateway: what a call asks the database, and when a change elsewhere is seen.
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';
import { readObject } from '../src/common/json/read.js';
import { text } from './support/fake-provider.js';
import { GatewayClient } from './support/gateway-client.js';
import { startTestApp, type TestApp } from './support/test-app.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const ANSWER = '{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}';
/** Within which a change takes effect on other replicas. */
const PROMISED_MS = 10_000;

let gateway: UsageGateway;
let replica: TestApp;
let slug: string;

beforeAll(async () => {
  gateway = await startUsageGateway();
  slug = await gateway.virtualKey('openai-compatible');
  replica = await startTestApp({}, true);
});
beforeEach(() => {
  gateway.provider.forget();
  gateway.provider.replyWith(text(ANSWER, 'application/json'));
});
afterAll(async () => {
  await replica.close();
  await gateway.close();
});

async function route(name: string, model: string): Promise<string> {
  const { id } = await gateway.admin.create('/v1/model-routes', { name, targets: [{ virtual_key: slug, model }] });
  return String(id);
}

/** A route as it is before a change elsewhere, the change, and what a call then comes to. */
type Change = [
  what: string,
  name: string,
  before: string | undefined,
  change: () => Promise<unknown>,
  after: readonly [number, string | undefined],
];

/** The status and the model that the provider got, of a call at the other gateway. */
async function atReplica(model: string): Promise<readonly [number, unknown]> {
  gateway.provider.forget();
  const answer = await new GatewayClient(replica.url).post('/v1/chat/completions', { model, messages: [] });
  const [call] = gateway.provider.calls;
  return [answer.status, call === undefined ? undefined : readObject(JSON.parse(call.body), 'the body')['model']];
}

describe('a call that names a model route', () => {
  it('asks no database when the route is known', async () => {
    await route('warm', 'm');
    const call = () => gateway.admin.post('/v1/chat/completions', { model: 'warm', messages: [] });
    await call();
    // A busy machine takes longer for the calls than what is known is new.
    const { clock } = gateway.app;
    const time = jest.spyOn(clock, 'now').mockReturnValue(clock.now());
    await call();
    const queries = jest.spyOn(PostgresQueryRunner.prototype, 'query');
    try {
      for (let calls = 0; calls < 20; calls += 1) expect((await call()).status).toBe(200);
      // The housekeeping reads by functions, and no table in quotes.
      const reads = queries.mock.calls.map(([sql]) => sql).filter((sql) => /^SELECT.* FROM "/s.test(sql));
      expect(reads).toEqual([]);
    } finally {
      queries.mockRestore();
      time.mockRestore();
    }
  });

  it('reads it again when what is known is old, once for all calls', async () => {
    await route('old', 'm');
    const call = () => gateway.admin.post('/v1/chat/completions', { model: 'old', messages: [] });
    await call();
    const { clock } = gateway.app;
    clock.advance(3_000);
    // Else the routes are old again before a busy machine has begun the last call.
    const time = jest.spyOn(clock, 'now').mockReturnValue(clock.now());
    const queries = jest.spyOn(PostgresQueryRunner.prototype, 'query');
    try {
      await Promise.all(Array.from({ length: 20 }, call));
      const reads = queries.mock.calls.map(([sql]) => sql).filter((sql) => sql.includes('FROM "model_routes"'));
      expect(reads).toHaveLength(1);
    } finally {
      queries.mockRestore();
      time.mockRestore();
    }
  });
});

describe('a change on another replica', () => {
  it('is not seen while what is known is new', async () => {
    await route('new-here', 'm');
    expect(await atReplica('new-here')).toEqual([200, 'm']);
    await gateway.admin.patch('/v1/model-routes/new-here', { targets: [{ virtual_key: slug, model: 'other' }] });
    expect(await atReplica('new-here')).toEqual([200, 'm']);
  });

  it.each([
    ['a new route', 'made', undefined, async () => void (await route('made', 'one')), [200, 'one']],
    [
      'another target',
      'changed',
      'one',
      () => gateway.admin.patch('/v1/model-routes/changed', { targets: [{ virtual_key: slug, model: 'two' }] }),
      [200, 'two'],
    ],
    ['a route that is gone', 'gone', 'one', () => gateway.admin.delete('/v1/model-routes/gone'), [404, undefined]],
  ] satisfies readonly Change[])('is seen within the promised time: %s', async (_what, name, before, change, after) => {
    if (before !== undefined) await route(name, before);
    replica.clock.advance(PROMISED_MS);
    expect(await atReplica(name)).toEqual(before === undefined ? [404, undefined] : [200, before]);
    await change();
    replica.clock.advance(PROMISED_MS);
    expect(await atReplica(name)).toEqual(after);
  });

  it('is seen under constant traffic too', async () => {
    await route('busy', 'one');
    replica.clock.advance(PROMISED_MS);
    expect(await atReplica('busy')).toEqual([200, 'one']);
    await gateway.admin.patch('/v1/model-routes/busy', { targets: [{ virtual_key: slug, model: 'two' }] });
    const seen: unknown[] = [];
    for (let ms = 0; ms < PROMISED_MS; ms += 500) {
      replica.clock.advance(500);
      seen.push((await atReplica('busy'))[1]);
    }
    expect([seen[0], seen.at(-1)]).toEqual(['one', 'two']);
  });
});
