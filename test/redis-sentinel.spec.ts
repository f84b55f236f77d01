import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { loadConfig } from '../src/config/environment.js';
import { RedisConnection } from '../src/redis/redis-connection.js';
import { eventually } from './support/eventually.js';
import { GatewayClient } from './support/gateway-client.js';
import { GatheredLog } from './support/gathered-log.js';
import { onOwnRedis } from './support/redis-process.js';
import { WatchedRedis } from './support/redis-sentinel.js';
import { startTestApp, type TestApp } from './support/test-app.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const LIMIT = { type: 'requests', unit: 'rph', value: 3 };

type Settings = WatchedRedis['settings'];

// A sentinel has to see that a server is gone, and to choose another.
jest.setTimeout(120_000);

onOwnRedis('Redis behind sentinels (needs REDIS_URL, and redis-server 7 on the path)', () => {
  let redis: WatchedRedis;
  let gateway: UsageGateway;
  let replica: TestApp;

  beforeAll(async () => {
    redis = await WatchedRedis.start();
    gateway = await startUsageGateway(redis.settings);
    replica = await startTestApp(redis.settings, true);
  });
  afterAll(async () => {
    await replica?.close();
    await gateway?.close();
    await redis?.close();
  });

  /** Statuses of calls with a new key, in turns at both gateways. */
  async function statusesOf(calls: number): Promise<readonly number[]> {
    const { key, client } = await gateway.admin.createKey({ scopes: ['api_keys.list'], rate_limits: [LIMIT] });
    const elsewhere = new GatewayClient(replica.url).as(key);
    const statuses: number[] = [];
    for (let call = 0; call < calls; call += 1) {
      statuses.push((await (call % 2 === 0 ? client : elsewhere).get('/v1/api-keys')).status);
    }
    return statuses;
  }

  it('counts the limits of keys for all gateways together, at the primary that they name', async () => {
    expect(await statusesOf(5)).toEqual([200, 200, 200, 429, 429]);
    expect(await redis.keys()).toBeGreaterThan(0);
    expect((await gateway.admin.get('/health/ready')).status).toBe(200);
  });

  it('is asked for at the next sentinel, and found again when its primary hangs and a replica takes the place', async () => {
    await redis.endPrimary('SIGSTOP');
    const ready = async (): Promise<boolean> => (await gateway.admin.get('/health/ready')).status === 200;
    await eventually(async () => !(await ready()));
    await eventually(ready, 30_000);
    await eventually(async () => (await new GatewayClient(replica.url).get('/health/ready')).status === 200, 30_000);
    expect(await statusesOf(5)).toEqual([200, 200, 200, 429, 429]);
    expect(await redis.keys()).toBeGreaterThan(0);
  });

  it.each([
    ['that do not know the name', () => ({ REDIS_URL: 'redis://another' }), 'a sentinel does not know the name'],
    [
      'that want another password',
      (settings: Settings) => ({ REDIS_SENTINEL_URLS: settings.REDIS_SENTINEL_URLS.replaceAll(/:[^:@]+@/g, ':no@') }),
      'WRONGPASS',
    ],
    ['that are away', () => ({ REDIS_SENTINEL_URLS: 'redis://127.0.0.1:1' }), 'no sentinel tells the primary'],
  ])(
    'is waited for no longer than it may take behind sentinels %s, and the log says why',
    async (_which, other, why) => {
      const log = new GatheredLog('info');
      const connection = new RedisConnection(loadConfig({ ...redis.settings, ...other(redis.settings) }), log.logger);
      try {
        await connection.onModuleInit();
        expect(await connection.whyNotReady()).toBe('no connection');
        expect(log.text).toContain(`"reason":"${why}"`);
      } finally {
        connection.onApplicationShutdown();
      }
    },
  );
});
