import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { eventually } from './support/eventually.js';
import { GatewayClient } from './support/gateway-client.js';
import { onRedisCluster, RedisCluster } from './support/redis-cluster.js';
import { startTestApp, type TestApp } from './support/test-app.js';
import { COST, startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const LIMIT = { type: 'requests', unit: 'rph', value: 3 };
const NO_LIMIT = { ...LIMIT, value: 100_000 };
const REMEMBERED = /^gateway_limit_refusals_remembered_total (\d+)$/m;

// Four servers agree on who is who, and later on who has died.
jest.setTimeout(60_000);

onRedisCluster('a Redis Cluster (needs REDIS_URL, and redis-server 7 on the path)', () => {
  let cluster: RedisCluster;
  let gateway: UsageGateway;
  let replica: TestApp;

  beforeAll(async () => {
    cluster = await RedisCluster.start();
    const settings = { REDIS_URL: '', REDIS_CLUSTER_URLS: cluster.urls };
    gateway = await startUsageGateway(settings);
    replica = await startTestApp(settings, true);
  });
  afterAll(async () => {
    await replica?.close();
    await gateway?.close();
    await cluster?.close();
  });

  /** Statuses of calls with a new key, in turns at both gateways. */
  async function statusesOf(limit: object, calls: number): Promise<readonly number[]> {
    const { key, client } = await gateway.admin.createKey({ scopes: ['api_keys.list'], rate_limits: [limit] });
    const elsewhere = new GatewayClient(replica.url).as(key);
    const statuses: number[] = [];
    for (let call = 0; call < calls; call += 1) {
      statuses.push((await (call % 2 === 0 ? client : elsewhere).get('/v1/api-keys')).status);
    }
    return statuses;
  }

  it('counts the limits of keys for all gateways together, each key at its node', async () => {
    await eventually(async () => {
      expect(await statusesOf(LIMIT, 5)).toEqual([200, 200, 200, 429, 429]);
      return (await cluster.primariesInUse()) === 3;
    });
    expect((await gateway.admin.get('/health/ready')).status).toBe(200);
  });

  it('remembers what usage limits refused', async () => {
    const remembered = async (): Promise<number> =>
      Number(REMEMBERED.exec((await gateway.admin.get('/metrics')).text)?.[1]);
    await gateway.reset();
    const before = await remembered();
    await gateway.limit({ credit_limit: COST });
    await gateway.call();
    await gateway.books.ledger(1);
    await eventually(async () => {
      expect((await gateway.call()).status).toBe(412);
      return (await remembered()) > before;
    });
  });

  it('goes on when a node dies and its replica takes its place', async () => {
    cluster.killFirst();
    const keys = await Promise.all(
      Array.from({ length: 12 }, () => gateway.admin.createKey({ scopes: ['api_keys.list'], rate_limits: [NO_LIMIT] })),
    );
    const seen = new Set<number>();
    await eventually(async () => {
      const answers = await Promise.all(keys.map(({ client }) => client.get('/v1/api-keys')));
      for (const { status } of answers) seen.add(status);
      return answers.every(({ status }) => status === 200);
    }, 30_000);
    // Whoever cannot be counted is refused, and nobody else.
    expect([...seen].filter((status) => status !== 503)).toEqual([200]);
    expect(await statusesOf(LIMIT, 5)).toEqual([200, 200, 200, 429, 429]);
    expect((await gateway.admin.get('/health/ready')).status).toBe(200);
  });
});
