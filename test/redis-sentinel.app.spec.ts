import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { loadConfig } from '../src/config/environment.js';
import { RedisConnection } from '../src/redis/redis-connection.js';
import { eventually } from './support/eventually.js';
import { GatewayPair } from './support/gateway-pair.js';
import { GatheredLog } from './support/gathered-log.js';
import { onOwnRedis } from './support/redis-process.js';
import { WatchedRedis } from './support/redis-sentinel.js';

type Settings = WatchedRedis['settings'];

// A sentinel must detect that a server is gone, and choose another.
jest.setTimeout(120_000);

onOwnRedis('Redis behind sentinels (needs REDIS_URL and redis-server 7 on the PATH)', () => {
  let redis: WatchedRedis;
  let pair: GatewayPair;

  beforeAll(async () => {
    redis = await WatchedRedis.start();
    pair = await GatewayPair.start(redis.settings);
  });
  afterAll(async () => {
    await pair?.close();
    await redis?.close();
  });

  it('counts key limits across gateways at the primary that the sentinels name', async () => {
    expect(await pair.statusesInTurns(5)).toEqual([200, 200, 200, 429, 429]);
    expect(await redis.keys()).toBeGreaterThan(0);
    expect(await pair.isReady()).toBe(true);
  });

  it('asks the next sentinel, and follows a failover when the primary hangs', async () => {
    await redis.stopPrimary();
    await eventually(async () => !(await pair.isReady()));
    await eventually(() => pair.isReady(), 30_000);
    expect(await pair.statusesInTurns(5)).toEqual([200, 200, 200, 429, 429]);
    expect(await redis.keys()).toBeGreaterThan(0);
  });

  it.each([
    ['that do not know the name', () => ({ REDIS_URL: 'redis://another' }), 'a sentinel does not know the name'],
    [
      'that want another password',
      (settings: Settings) => ({ REDIS_SENTINEL_URLS: settings.REDIS_SENTINEL_URLS.replaceAll(/:[^:@]+@/g, ':no@') }),
      'WRONGPASS',
    ],
    ['that are away', () => ({ REDIS_SENTINEL_URLS: 'redis://127.0.0.1:1' }), 'a sentinel cannot be reached'],
  ])('limits the wait behind sentinels %s, and logs the reason', async (_which, other, why) => {
    const log = new GatheredLog('info');
    const connection = new RedisConnection(loadConfig({ ...redis.settings, ...other(redis.settings) }), log.logger);
    try {
      await connection.onModuleInit();
      expect(await connection.whyNotReady()).toBe('no connection');
      expect(log.text).toContain(`"reason":"${why}"`);
    } finally {
      connection.onApplicationShutdown();
    }
  });
});
