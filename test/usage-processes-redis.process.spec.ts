import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { Redis } from 'ioredis';
import { usageDrift } from '../src/usage/drift.js';
import { UsageAdjustment } from '../src/usage/usage-adjustment.entity.js';
import { UsageBucket } from '../src/usage/usage-bucket.entity.js';
import { eventually } from './support/eventually.js';
import { GatewayFleet, POLICIES } from './support/gateway-fleet.js';
import { databaseServer, onServers, redisServer } from './support/services.js';
import { COST, COST_NANO } from './support/usage-gateway.js';
import { Wire } from './support/wire.js';

const GATEWAYS = 4;
const KILLS = 4;
const CALLERS = 24;
const USERS = ['anna', 'ben', 'cleo', 'dan'];
/** The number of calls within one user's limit. */
const ENOUGH_FOR = 50;
/** A database of its own, so that a flush deletes no other test's keys. */
const REDIS_DATABASE = 7;
const REMEMBERED = 'gateway_limit_refusals_remembered_total';

// Eight starts of a gateway, two seconds of CPU each.
jest.setTimeout(300_000);

onServers(`${GATEWAYS} gateways on one PostgreSQL and one Redis (needs DATABASE_URL and REDIS_URL)`, () => {
  let fleet: GatewayFleet;
  let redis: Redis;
  let wire: Wire;
  let port: number;
  let policyId: string;
  let statuses: number[];
  let users: Map<string, string>;

  const { hostname, port: redisPort } = new URL(redisServer ?? 'redis://nowhere');
  const newWire = (): Wire => new Wire(() => connect(Number(redisPort || 6379), hostname));
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  const anyUser = (): string => USERS[Math.floor(Math.random() * USERS.length)] ?? '';

  beforeAll(async () => {
    const own = new URL(redisServer ?? '');
    own.pathname = `/${REDIS_DATABASE}`;
    redis = new Redis(own.href);
    await redis.flushdb();
    wire = newWire();
    port = await wire.listen();
    own.hostname = '127.0.0.1';
    own.port = String(port);
    fleet = await GatewayFleet.start(GATEWAYS, databaseServer ?? '', { REDIS_URL: own.href });
    const limit = { credit_limit: ENOUGH_FOR * COST, group_by: [{ key: 'metadata.user' }] };
    policyId = await fleet.limit(limit);
  });

  afterAll(async () => {
    await fleet.close();
    await wire.cut();
    await redis.flushdb();
    redis.disconnect();
  });

  afterEach(async () => {
    expect(await fleet.atRest()).toEqual([]);
    expect(await usageDrift(fleet.books)).toEqual([]);
  });

  async function mend(): Promise<void> {
    wire = newWire();
    await wire.listen(port);
  }

  /** The callers during `work`: they continue even when their budget is used up. */
  async function underLoad(work: () => Promise<void>): Promise<void> {
    await fleet.atRest();
    await fleet.forget();
    statuses = [];
    users = new Map();
    let isOver = false;
    const caller = async (): Promise<void> => {
      while (!isOver) {
        const [trace, user] = [randomUUID(), anyUser()];
        users.set(trace.replaceAll('-', ''), user);
        const status = await fleet.call(trace, { metadata: { user } });
        statuses.push(status);
        if (status !== 200) await pause(20);
      }
    };
    const callers = Array.from({ length: CALLERS }, caller);
    try {
      await work();
    } finally {
      isOver = true;
      await Promise.all(callers);
    }
  }

  const bucketsOf = (user: string): Promise<UsageBucket[]> =>
    fleet.books.getRepository(UsageBucket).findBy({ policyId, valueKey: `metadata.user:${user}` });

  /** Resets a user to zero through any running gateway. */
  async function resetOne(): Promise<void> {
    const [bucket] = await bucketsOf(anyUser());
    const path = `${POLICIES}/${policyId}/entities/${bucket?.id}/reset`;
    for (let number = 0; number < fleet.size; number += 1) {
      const status = await fleet
        .client(number)
        .put(path, {})
        .then(
          (answer) => answer.status,
          () => 0,
        );
      if (status === 200 || status === 204) return;
    }
    throw new Error('no gateway resets a bucket');
  }

  async function usedUp(): Promise<void> {
    const full = (ENOUGH_FOR - 1) * Number(COST_NANO);
    await eventually(async () => {
      const buckets = (await Promise.all(USERS.map(bucketsOf))).flat();
      return buckets.length === USERS.length && buckets.every(({ used }) => Number(used) > full);
    }, 60_000);
  }

  /** Each call that reached the provider is in the ledger once, and no limit was exceeded. */
  async function expectTrueBooks(): Promise<void> {
    expect(await fleet.atRest()).toEqual([]);
    const { reached, miscounted, invented } = await fleet.reckon();
    expect(new Set(reached).size).toBe(reached.length);
    expect(miscounted).toEqual([]);
    expect(invented).toEqual([]);
    const limit = BigInt(ENOUGH_FOR) * COST_NANO;
    const adjustments = await fleet.books.getRepository(UsageAdjustment).find();
    for (const user of USERS) {
      const [bucket] = await bucketsOf(user);
      const resets = adjustments.filter(({ bucketId }) => bucketId === bucket?.id);
      const spent = [BigInt(bucket?.used ?? 0), ...resets.map(({ delta }) => -BigInt(delta))];
      expect(spent.filter((amount) => amount > limit)).toEqual([]);
      const sent = reached.filter((trace) => users.get(trace) === user).length;
      expect(sent).toBeLessThanOrEqual(ENOUGH_FOR * (resets.length + 1));
    }
  }

  it('refuses from memory while Redis is flushed, silent or gone, without failures', async () => {
    await underLoad(async () => {
      await usedUp();
      for (let round = 0; round < 3; round += 1) {
        await redis.flushdb();
        await resetOne();
        await pause(300);
        wire.silence('silent');
        await resetOne();
        await pause(700);
        await wire.cut();
        await resetOne();
        await pause(700);
        await mend();
        await pause(300);
      }
      // In every case, every gateway soon answers from memory again.
      const before = await fleet.metric(REMEMBERED);
      await eventually(async () =>
        (await fleet.metric(REMEMBERED)).every((count, index) => count > (before[index] ?? 0)),
      );
      await usedUp();
    });
    expect(new Set(statuses.filter((status) => ![200, 412, 429].includes(status)))).toEqual(new Set());
    expect(statuses.filter((status) => status === 412).length).toBeGreaterThan(100);
    await expectTrueBooks();
  });

  it(`loses no call and exceeds no limit when gateways are killed ${KILLS} times`, async () => {
    await underLoad(async () => {
      for (let kill = 0; kill < KILLS; kill += 1) {
        await Promise.all(USERS.map(resetOne));
        await pause(200 + Math.random() * 400);
        const killed = fleet.killOne();
        await redis.flushdb();
        if (kill % 2 === 0) wire.silence('silent');
        else await wire.cut();
        await pause(Math.random() * 1_000);
        await redis.flushdb();
        // A silent connection has lost bytes in between and cannot be used again.
        if (kill % 2 === 0) await wire.cut();
        await mend();
        await killed;
      }
    });
    await expectTrueBooks();
    const { reached } = await fleet.reckon();
    expect(reached.length).toBeGreaterThan(USERS.length * ENOUGH_FOR * 0.5);
  });
});
