import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { loadConfig } from '../src/config/environment.js';
import { RedisConnection } from '../src/redis/redis-connection.js';
import { createLogger } from '../src/telemetry/logger.js';
import { eventually } from './support/eventually.js';
import { GatewayPair } from './support/gateway-pair.js';
import { RedisCluster } from './support/redis-cluster.js';
import { onOwnRedis } from './support/redis-process.js';
import type { UsageGateway } from './support/usage-gateway.js';

const NO_LIMIT = { type: 'requests', unit: 'rph', value: 100_000 };

// Four servers agree on their roles, and later detect a failed node.
jest.setTimeout(120_000);

onOwnRedis('a Redis Cluster (needs REDIS_URL and redis-server 7 on the PATH)', () => {
  let cluster: RedisCluster;
  let pair: GatewayPair;
  let gateway: UsageGateway;

  beforeAll(async () => {
    cluster = await RedisCluster.start();
    pair = await GatewayPair.start({ REDIS_URL: '', REDIS_CLUSTER_URLS: cluster.urls });
    ({ gateway } = pair);
  });
  afterAll(async () => {
    await pair?.close();
    await cluster?.close();
  });

  it('counts key limits across gateways in a Redis cluster, each key at its node', async () => {
    await eventually(async () => {
      expect(await pair.statusesInTurns(5)).toEqual([200, 200, 200, 429, 429]);
      return (await cluster.primariesInUse()) === 3;
    });
    expect((await gateway.admin.get('/health/ready')).status).toBe(200);
  });

  it('continues when a cluster node dies and its replica takes over', async () => {
    const keys = await Promise.all(
      Array.from({ length: 12 }, () => gateway.admin.createKey({ scopes: ['api_keys.list'], rate_limits: [NO_LIMIT] })),
    );
    const seen = keys.map(() => new Set<number>());
    const readiness = new Set<number>();
    const ask = async (): Promise<boolean> => {
      const answers = await Promise.all(keys.map(({ client }) => client.get('/v1/api-keys')));
      for (const [index, { status }] of answers.entries()) seen[index]?.add(status);
      readiness.add((await gateway.admin.get('/health/ready')).status);
      return answers.every(({ status }) => status === 200);
    };
    expect(await ask()).toBe(true);
    cluster.killFirst();
    await eventually(async () => !(await ask()));
    // Apart, so that a failure says whether the nodes or the gateway found no successor.
    await eventually(() => cluster.hasSuccessor(), 30_000);
    await eventually(ask, 30_000);
    // Only requests that cannot be counted are refused.
    expect(new Set(seen.flatMap((statuses) => [...statuses]))).toEqual(new Set([200, 503]));
    expect(seen.some((statuses) => !statuses.has(503))).toBe(true);
    expect(readiness).toEqual(new Set([200]));
    expect(await pair.statusesInTurns(5)).toEqual([200, 200, 200, 429, 429]);
  });

  it('limits the wait for a cluster at the start, connects later and survives a hanging node', async () => {
    const nodes = await RedisCluster.startNodes();
    const settings = loadConfig({ REDIS_CLUSTER_URLS: nodes.urls });
    const connection = new RedisConnection(settings, createLogger('silent'));
    try {
      await connection.onModuleInit();
      expect(await connection.whyNotReady()).toBe('no connection');
      await nodes.meet();
      await eventually(async () => (await connection.whyNotReady()) === undefined, 20_000);

      // When a node hangs, only the others can report its successor.
      const key = await nodes.keyOfFirst();
      const isKept = async (): Promise<boolean> => {
        const kept = connection.client?.set(key, 'value').catch(() => undefined);
        return (await kept) === 'OK';
      };
      expect(await isKept()).toBe(true);
      nodes.stopFirst();
      await eventually(async () => !(await isKept()));
      await eventually(isKept, 30_000);
    } finally {
      connection.onApplicationShutdown();
      await nodes.close();
    }
  });
});
