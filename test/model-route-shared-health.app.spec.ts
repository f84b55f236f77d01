// What one gateway has seen of a target, another one of the same Redis knows as well.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { SharedPauses } from '../src/model-routes/shared-pauses.js';
import { RedisConnection } from '../src/redis/redis-connection.js';
import { eventually } from './support/eventually.js';
import { type FakeProvider, json, startFakeProvider } from './support/fake-provider.js';
import { GatewayClient } from './support/gateway-client.js';
import { type Answer, jsonOf } from './support/send.js';
import { onServers, redisServer } from './support/services.js';
import { ADMIN_KEY, startTestApp, type TestApp } from './support/test-app.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const PATH = '/v1/model-routes';
const GOOD = json({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } });
/** Gateways of other specs write into database 0, with clocks of their own. */
const ownRedis = (): { REDIS_URL: string } => ({ REDIS_URL: new URL('/15', redisServer).href });

onServers('two gateways of one Redis', () => {
  let gateway: UsageGateway;
  let replica: TestApp;
  let second: FakeProvider;
  let other: GatewayClient;
  let route: string;
  let made = 0;

  beforeAll(async () => {
    gateway = await startUsageGateway(ownRedis());
    replica = await startTestApp(ownRedis(), true);
    second = await startFakeProvider();
    other = new GatewayClient(replica.url).as(ADMIN_KEY);
  });
  beforeEach(async () => {
    await gateway.reset();
    for (const provider of [gateway.provider, second]) provider.forget();
    second.replyWith(GOOD);
    const first = await gateway.virtualKey('openai-compatible');
    const backup = await gateway.virtualKey('openai-compatible', { config: { base_url: second.url } });
    const targets = [
      { virtual_key: first, model: 'one' },
      { virtual_key: backup, model: 'two', order: 1 },
    ];
    made += 1;
    route = `shared-${made}`;
    await gateway.admin.create(PATH, { name: route, targets });
    gateway.provider.replyWith(GOOD);
    await eventually(async () => {
      pass(1_000);
      return (await chat(other)).status === 200;
    });
    gateway.provider.forget();
  });
  afterAll(async () => {
    await replica.close();
    await gateway.close();
    await second.close();
  });

  function chat(client: GatewayClient): Promise<Answer> {
    return client.post('/v1/chat/completions', { model: route, messages: [], max_tokens: 1 });
  }

  function pass(milliseconds: number): void {
    for (const { clock } of [gateway.app, replica]) clock.advance(milliseconds);
  }

  async function stateAt(client: GatewayClient): Promise<unknown> {
    return jsonOf(await client.get(`${PATH}/${route}/health`))['targets'];
  }

  it.each([
    ['open', json({ error: { message: 'no' } }, 500), 10],
    ['limited', json({ error: { message: 'slow down' } }, 429, { 'retry-after': '20' }), 1],
  ])('leave a target alone that one of them knows as %s, until its pause is over', async (state, reply, calls) => {
    gateway.provider.replyWith(reply);
    expect(await stateAt(other)).toMatchObject([{ state: 'closed' }, { state: 'closed' }]);
    for (let call = 0; call < calls; call += 1) expect((await chat(gateway.admin)).status).toBe(200);
    await eventually(async () => {
      // As time passes, it reads again.
      pass(1_000);
      return JSON.stringify(await stateAt(other)).includes(state);
    });
    expect(await stateAt(other)).toMatchObject([{ state, failures: 0 }, { state: 'closed' }]);
    expect((await chat(other)).status).toBe(200);
    expect(gateway.provider.calls).toHaveLength(calls);
    pass(31_000);
    await chat(other);
    expect(gateway.provider.calls).toHaveLength(calls + 1);
  });

  it('forget no pause when the clock of one of them is minutes ahead', async () => {
    const redis = gateway.app.app.get(RedisConnection, { strict: false });
    const [one, ahead, reader] = [new SharedPauses(redis), new SharedPauses(redis), new SharedPauses(redis)];
    let now = gateway.app.clock.now().getTime();
    const open = { state: 'open', until: now + 200_000 } as const;
    const opened = { state: 'open', until: now + 280_000 } as const;
    // Another run of the tests may use the same Redis.
    const [early, late] = [randomUUID(), randomUUID()];
    one.tell(early, open, now);
    ahead.tell(late, opened, now + 250_000);
    await eventually(() => reader.of(late, (now += 1_000)) !== undefined);
    expect(reader.of(early, now)).toEqual(open);
    expect(reader.of(late, now)).toEqual(opened);
  });
});
