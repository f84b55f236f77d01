import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { TestClock } from '../../../test/support/test-clock.js';
import { PostgresUsageStore } from '../postgres-usage.store.js';
import { RedisUsageStore } from '../redis-usage.store.js';
import { RefusalMemory } from '../refusal-memory.js';
import { NO_OBSERVER } from './no-observer.js';
import { emptyUsage, inspect, openDataSource } from './postgres-harness.js';
import type { StoreHarness } from './store-harness.js';

/** Long enough for calls that follow each other, and short enough to wait for the end of it. */
const REMEMBER_MS = 1_000;

/** A connection as the gateway's, and keys of its own on that server. */
export interface TestRedis {
  readonly client: Redis;
  readonly prefix: string;
  /** Removes the keys, and only those. */
  close(): Promise<void>;
}

export async function openRedis(url: string): Promise<TestRedis> {
  const client = new Redis(url, { maxRetriesPerRequest: 1, enableOfflineQueue: false, lazyConnect: true });
  client.on('error', () => undefined);
  await client.connect();
  const prefix = `tollgate_test_${randomUUID()}`;
  return {
    client,
    prefix,
    async close() {
      const keys = await client.keys(`${prefix}:*`);
      if (keys.length > 0) await client.del(keys);
      client.disconnect();
    },
  };
}

export function redisHarness(url: string): StoreHarness {
  return {
    name: 'redis',
    async start() {
      const [dataSource, redis] = await Promise.all([openDataSource(), openRedis(url)]);
      return {
        async open(maxBuckets) {
          await emptyUsage(dataSource);
          const clock = new TestClock();
          const durable = new PostgresUsageStore(dataSource, clock, NO_OBSERVER, { maxBuckets });
          const memory = new RefusalMemory(
            redis.client,
            { warn: () => undefined },
            { prefix: redis.prefix, rememberMs: REMEMBER_MS },
          );
          return inspect(new RedisUsageStore(durable, memory, NO_OBSERVER), clock, dataSource);
        },
        async stop() {
          await redis.close();
          await dataSource.destroy();
        },
      };
    },
  };
}
