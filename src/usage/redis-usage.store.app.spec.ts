import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { eventually } from '../../test/support/eventually.js';
import { onRedis, redisServer } from '../../test/support/services.js';
import { TestClock } from '../../test/support/test-clock.js';
import { Wire } from '../../test/support/wire.js';
import type { TollgateDataSource } from '../database/tollgate-data-source.js';
import { FaultyRedis, refusingAll, silent } from '../redis/__fixtures__/faulty-redis.js';
import { BreakableDatabase } from './__fixtures__/broken-data-source.js';
import { emptyUsage, inspect, openDataSource } from './__fixtures__/postgres-harness.js';
import { openRedis, type TestRedis } from './__fixtures__/redis-harness.js';
import type { TestedStore } from './__fixtures__/store-harness.js';
import { MemoryUsageStore } from './__fixtures__/memory-usage.store.js';
import { NO_OBSERVER } from './__fixtures__/no-observer.js';
import { chargeOf, cost, ORGANISATION, reservationOf, settlementOf } from './__fixtures__/usage.js';
import { PostgresUsageStore } from './postgres-usage.store.js';
import { RedisUsageStore } from './redis-usage.store.js';
import { RefusalMemory, type RefusalMemoryOptions } from './refusal-memory.js';
import type { Adjustment, Charge, Reservation, ReserveOutcome, UsageStore } from './usage-store.types.js';

const ADJUSTMENT: Adjustment = { organisationId: ORGANISATION, actorId: 'admin-1', reason: 'goodwill', at: new Date() };
/** Time enough for a machine that is busy with other tests. */
const PATIENT_MS = 5_000;

async function spend(store: UsageStore, charge: Charge, amount: bigint): Promise<void> {
  const reservation = reservationOf([charge], { bound: cost(amount) });
  expect((await store.reserve(reservation)).kind).toBe('admitted');
  await store.settle(settlementOf(reservation));
}

onRedis('refusals that Redis remembers (needs REDIS_URL)', () => {
  let dataSource: TollgateDataSource;
  let database: BreakableDatabase;
  let redis: TestRedis;
  let seen: TestedStore;
  let decisions: string[];
  let remembered: number;
  let stores: UsageStore[];

  beforeAll(async () => {
    [dataSource, redis] = await Promise.all([openDataSource(), openRedis(redisServer ?? '')]);
  });

  afterAll(async () => {
    await redis.close();
    await dataSource.destroy();
  });

  beforeEach(async () => {
    await emptyUsage(dataSource);
    database = new BreakableDatabase(dataSource);
    decisions = [];
    remembered = 0;
    stores = [];
  });

  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
    expect(await seen.drifting()).toEqual([]);
  });

  const observer = {
    ...NO_OBSERVER,
    decided: (decision: string) => decisions.push(decision),
    refusedFromMemory: () => (remembered += 1),
  };
  const memoryOf = (options: RefusalMemoryOptions = {}, client = redis.client): RefusalMemory =>
    new RefusalMemory(client, { warn: () => undefined }, { prefix: redis.prefix, answerMs: PATIENT_MS, ...options });
  const durableStore = (maxBuckets?: number): PostgresUsageStore =>
    new PostgresUsageStore(
      database.dataSource,
      new TestClock(),
      observer,
      maxBuckets === undefined ? {} : { maxBuckets },
    );
  /** The store of one gateway. */
  function open(memory = memoryOf(), durable: UsageStore = durableStore()): RedisUsageStore {
    const store = new RedisUsageStore(durable, memory, observer);
    stores.push(store);
    seen = inspect(store, new TestClock(), dataSource);
    return store;
  }
  const keyOf = ({ policyId, windowId, bucketHash }: Charge, organisationId = ORGANISATION): string =>
    `${redis.prefix}:usage:{${organisationId}}:${policyId}:${windowId}:${bucketHash}`;
  const remember = (charge: Charge): Promise<void> =>
    eventually(async () => (await redis.client.exists(keyOf(charge))) === 1);
  /** The decision of `work`, and how many statements it sent to the database. */
  async function asked(work: () => Promise<ReserveOutcome>): Promise<{ kind: string; statements: number }> {
    const before = database.statements;
    const { kind } = await work();
    return { kind, statements: database.statements - before };
  }
  const FROM_MEMORY = { kind: 'exceeded', statements: 0 };
  const FROM_DATABASE = { kind: 'exceeded', statements: 1 };
  const ADMITTED = { kind: 'admitted', statements: 1 };

  /** A bucket with 91 of 100 used, and a remembered refusal of 10 more. */
  async function usedUp(store: UsageStore, charge = chargeOf()): Promise<Charge> {
    await spend(store, charge, 91n);
    expect(await asked(() => store.reserve(reservationOf([charge])))).toEqual(FROM_DATABASE);
    await remember(charge);
    return charge;
  }

  it('returns a remembered refusal without the database, with the same figures, and counts it', async () => {
    const store = open();
    const charge = chargeOf();
    await spend(store, charge, 91n);
    const first = await store.reserve(reservationOf([charge]));
    await remember(charge);
    const before = database.statements;
    const again = await Promise.all(Array.from({ length: 100 }, () => store.reserve(reservationOf([charge]))));
    expect(database.statements).toBe(before);
    expect(again).toEqual(again.map(() => first));
    expect(decisions).toEqual(['admitted', 'exceeded', ...again.map(() => 'exceeded')]);
    expect(remembered).toBe(100);
    expect(await seen.bucket(charge)).toEqual({ used: 91n, reserved: 0n, epoch: 0 });
  });

  it('shares remembered refusals between gateways', async () => {
    const [one, other] = [open(), open()];
    const charge = await usedUp(one);
    expect(await asked(() => other.reserve(reservationOf([charge])))).toEqual(FROM_MEMORY);
  });

  it('queries the database again after a while, however often a refusal is repeated', async () => {
    const store = open(memoryOf({ rememberMs: 1_500 }));
    const charge = await usedUp(store);
    const lifetime = await redis.client.pttl(keyOf(charge));
    await store.reserve(reservationOf([charge]));
    // Neither a refusal from memory nor another one of the database makes it live longer.
    memoryOf({ rememberMs: 60_000 }).remember(ORGANISATION, [{ ...charge, used: 91n, reserved: 0n }]);
    expect(await redis.client.pttl(keyOf(charge))).toBeLessThanOrEqual(lifetime);
    const before = database.statements;
    await eventually(async () => {
      expect((await store.reserve(reservationOf([charge]))).kind).toBe('exceeded');
      return database.statements > before;
    });
  });

  it('expires remembered refusals within seconds', async () => {
    const charge = await usedUp(open());
    const lifetime = await redis.client.pttl(keyOf(charge));
    expect(lifetime).toBeGreaterThan(0);
    expect(lifetime).toBeLessThanOrEqual(5_000);
  });

  it('ends a remembered refusal with a raised limit, and keeps it under a lowered one', async () => {
    const store = open();
    const charge = await usedUp(store);
    expect(await asked(() => store.reserve(reservationOf([{ ...charge, limit: 101n }])))).toEqual(ADMITTED);
    expect(await asked(() => store.reserve(reservationOf([{ ...charge, limit: 50n }])))).toEqual(FROM_MEMORY);
  });

  it('leaves a call that still fits to the database', async () => {
    const store = open();
    const charge = await usedUp(store);
    expect(await asked(() => store.reserve(reservationOf([charge], { bound: cost(9n) })))).toEqual(ADMITTED);
    expect(await asked(() => store.reserve(reservationOf([charge], { bound: cost(0n) })))).toEqual(ADMITTED);
  });

  it('compares exactly beyond the integers of floating-point numbers', async () => {
    const store = open();
    const charge = chargeOf({ limit: 10n ** 16n + 2n });
    for (const amount of [...Array.from({ length: 10 }, () => 10n ** 15n), 1n]) await spend(store, charge, amount);
    const two = (): Promise<ReserveOutcome> => store.reserve(reservationOf([charge], { bound: cost(2n) }));
    expect(await asked(two)).toEqual(FROM_DATABASE);
    await remember(charge);
    expect(await asked(two)).toEqual(FROM_MEMORY);
    expect(await asked(() => store.reserve(reservationOf([charge], { bound: cost(1n) })))).toEqual(ADMITTED);
  });

  it('remembers a refusal for one window only', async () => {
    const store = open();
    const november = await usedUp(store);
    expect(await asked(() => store.reserve(reservationOf([{ ...november, windowId: '2026-12' }])))).toEqual(ADMITTED);
  });

  it('remembers a refusal for one bucket: of two charges it names only the full one, and the other stays usable', async () => {
    const store = open();
    const [spare, full] = [chargeOf(), await usedUp(store)];
    const both = await store.reserve(reservationOf([spare, full]));
    expect(both).toMatchObject({ kind: 'exceeded', failing: [{ policyId: full.policyId, used: 91n, limit: 100n }] });
    expect(remembered).toBe(1);
    expect(await asked(() => store.reserve(reservationOf([spare])))).toEqual(ADMITTED);
    expect(await redis.client.exists(keyOf(spare))).toBe(0);
  });

  it('remembers a refusal for one tenant only', async () => {
    const store = open();
    const charge = await usedUp(store);
    const stranger = { ...reservationOf([]).dimensions, organisationId: randomUUID() };
    const theirs = { ...charge, policyId: randomUUID() };
    expect(await asked(() => store.reserve(reservationOf([charge], { dimensions: stranger })))).toEqual(FROM_DATABASE);
    expect(await asked(() => store.reserve(reservationOf([theirs], { dimensions: stranger })))).toEqual(ADMITTED);
  });

  it('never refuses from memory for a policy that only monitors', async () => {
    const store = open();
    const charge = await usedUp(store);
    expect(await asked(() => store.reserve(reservationOf([{ ...charge, enforced: false }])))).toEqual(ADMITTED);
  });

  it('leaves figures that cannot be counted to the database', async () => {
    const store = open();
    const charge = await usedUp(store);
    for (const absurd of [-1n, 10n ** 16n]) {
      await expect(store.reserve(reservationOf([charge], { bound: cost(absurd) }))).rejects.toThrow(RangeError);
    }
  });

  it('does not remember a refusal that passes in moments', async () => {
    const store = open(memoryOf(), durableStore(1));
    const [busy, full] = [chargeOf(), chargeOf()];
    const running = reservationOf([busy], { bound: cost(95n) });
    await store.reserve(running);
    expect((await store.reserve(reservationOf([busy]))).kind).toBe('contended');
    expect((await store.reserve(reservationOf([{ ...busy, bucketHash: 'one-too-many' }]))).kind).toBe('crowded');
    await spend(store, full, 100n);
    // One bucket refuses for the rest of the window, another one for a moment.
    expect(await store.reserve(reservationOf([busy, full]))).toMatchObject({ kind: 'exceeded', failing: [{}, {}] });
    await remember(full);
    expect(await redis.client.exists(keyOf(busy), keyOf({ ...busy, bucketHash: 'one-too-many' }))).toBe(0);
    await store.release(running.id, running.at);
    expect(await asked(() => store.reserve(reservationOf([busy])))).toEqual(ADMITTED);
  });

  it.each([
    ['text', 'abc'],
    ['an empty text', ''],
    ['a number below zero', '-5:0'],
    ['figures without their partner', '91'],
    ['a float', '9.1e1:0'],
    ['hexadecimal', '0x5b:0'],
    ['more than there is', `91:0:0`],
    ['more than a counter holds', '9999999999999999999:0'],
    ['far more than a counter holds', `${'9'.repeat(1_000)}:0`],
  ])('ignores %s in the memory', async (_what, value) => {
    const store = open();
    const charge = chargeOf();
    await redis.client.set(keyOf(charge), value);
    expect(await asked(() => store.reserve(reservationOf([charge])))).toEqual(ADMITTED);
  });

  it('ignores a key of another type, without failing any call', async () => {
    const store = open();
    const [charge, full] = [chargeOf(), await usedUp(store)];
    await redis.client.rpush(keyOf(charge), '91:0');
    await spend(store, charge, 91n);
    for (let time = 0; time < 2; time += 1) {
      expect(await asked(() => store.reserve(reservationOf([charge])))).toEqual(FROM_DATABASE);
    }
    expect(await asked(() => store.reserve(reservationOf([charge, full])))).toEqual(FROM_MEMORY);
  });

  it('forgets refusals when Redis loses its data', async () => {
    const store = open();
    const charge = await usedUp(store);
    await redis.client.del(keyOf(charge));
    expect(await asked(() => store.reserve(reservationOf([charge])))).toEqual(FROM_DATABASE);
    await remember(charge);
    expect(await asked(() => store.reserve(reservationOf([charge])))).toEqual(FROM_MEMORY);
  });

  it('forgets a refusal after a reset, also on other gateways', async () => {
    const [one, other] = [open(), open()];
    const charge = await usedUp(one);
    expect(await other.reset(charge, ADJUSTMENT)).toBe(true);
    expect(await asked(() => one.reserve(reservationOf([charge])))).toEqual(ADMITTED);
  });

  it("keeps a refusal when another tenant's bucket is reset", async () => {
    const store = open();
    const charge = await usedUp(store);
    expect(await store.reset(charge, { ...ADJUSTMENT, organisationId: randomUUID() })).toBe(false);
    expect(await asked(() => store.reserve(reservationOf([charge])))).toEqual(FROM_MEMORY);
  });

  it('does not remember a refusal that was decided before a reset and arrives after it', async () => {
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    let isDecided = false;
    class LateStore extends PostgresUsageStore {
      override async reserve(reservation: Reservation): Promise<ReserveOutcome> {
        const outcome = await super.reserve(reservation);
        isDecided = true;
        await held;
        return outcome;
      }
    }
    const store = open();
    const late = open(memoryOf(), new LateStore(database.dataSource, new TestClock(), observer));
    const charge = chargeOf();
    await spend(store, charge, 91n);
    const refused = late.reserve(reservationOf([charge]));
    await eventually(() => isDecided);
    await store.reset(charge, ADJUSTMENT);
    letGo();
    expect((await refused).kind).toBe('exceeded');
    expect(await asked(() => store.reserve(reservationOf([charge])))).toEqual(ADMITTED);
  });

  it('remembers a refusal again when the budget is used up once more', async () => {
    const store = open(memoryOf({ rememberMs: 1_500 }));
    const charge = await usedUp(store);
    await store.reset(charge, ADJUSTMENT);
    await spend(store, charge, 91n);
    await eventually(async () => (await redis.client.exists(keyOf(charge))) === 0);
    expect(await asked(() => store.reserve(reservationOf([charge])))).toEqual(FROM_DATABASE);
    await remember(charge);
    expect(await asked(() => store.reserve(reservationOf([charge])))).toEqual(FROM_MEMORY);
  });

  it('leaves the shared connection open when the store closes', async () => {
    const store = open();
    const reservation = reservationOf([chargeOf()]);
    await store.reserve(reservation);
    const settled = store.settle(settlementOf(reservation));
    await store.close();
    await settled;
    expect(await redis.client.ping()).toBe('PONG');
  });

  describe('on a wire that fails', () => {
    let wire: Wire;
    let port: number;
    let wired: TestRedis;

    const { port: redisPort, hostname } = new URL(redisServer ?? 'redis://nowhere');
    const dial = (): ReturnType<typeof connect> => connect(Number(redisPort || 6379), hostname);

    beforeEach(async () => {
      wire = new Wire(dial);
      port = await wire.listen();
      const through = new URL(redisServer ?? '');
      through.hostname = '127.0.0.1';
      through.port = String(port);
      wired = await openRedis(through.href);
    });

    afterEach(async () => {
      wired.client.disconnect();
      await wire.cut();
    });

    it('refuses by the database while Redis is gone, and remembers again when it is back', async () => {
      const store = open(memoryOf({ pauseMs: 0 }, wired.client));
      const charge = await usedUp(store);
      await wire.cut();
      await eventually(() => wired.client.status !== 'ready');
      expect(await asked(() => store.reserve(reservationOf([charge])))).toEqual(FROM_DATABASE);
      expect((await store.reserve(reservationOf([charge], { bound: cost(9n) }))).kind).toBe('admitted');
      expect(await store.reset(charge, ADJUSTMENT)).toBe(true);
      wire = new Wire(dial);
      await wire.listen(port);
      await eventually(() => wired.client.status === 'ready');
      const full = await usedUp(store);
      expect(await asked(() => store.reserve(reservationOf([full])))).toEqual(FROM_MEMORY);
    });

    it('refuses by the database while Redis is silent, and remembers again when it responds', async () => {
      const store = open(memoryOf({ answerMs: 50, pauseMs: 50 }, wired.client));
      const charge = await usedUp(store);
      wire.silence('silent');
      expect(await asked(() => store.reserve(reservationOf([charge])))).toEqual(FROM_DATABASE);
      expect(await store.reset(charge, ADJUSTMENT)).toBe(true);
      wire.silence('open');
      await wire.cut();
      wire = new Wire(dial);
      await wire.listen(port);
      const full = chargeOf();
      await spend(store, full, 91n);
      await eventually(async () => {
        expect((await store.reserve(reservationOf([full]))).kind).toBe('exceeded');
        return remembered > 0;
      });
    });
  });
});

describe('a Redis that is of no use', () => {
  let redis: FaultyRedis;
  let client: Redis;
  let warnings: object[];

  beforeEach(() => {
    warnings = [];
  });

  afterEach(async () => {
    client.disconnect();
    await redis.close();
  });

  async function open(error: string | undefined, options: RefusalMemoryOptions = {}): Promise<RedisUsageStore> {
    redis = new FaultyRedis(error === undefined ? silent : refusingAll(error));
    client = new Redis(await redis.listen(), '127.0.0.1', {
      enableReadyCheck: false,
      enableOfflineQueue: false,
      disableClientInfo: true,
      protocol: 2,
      lazyConnect: true,
    });
    client.on('error', () => undefined);
    await client.connect();
    const logger = { warn: (line: object) => warnings.push(line) };
    const memory = new RefusalMemory(client, logger, options);
    return new RedisUsageStore(new MemoryUsageStore(new TestClock()), memory, NO_OBSERVER);
  }
  const commands = (): number => redis.received.split('*').length - 1;

  it('bounds the wait for a Redis that never responds, and then leaves it alone for a while', async () => {
    const store = await open(undefined, { pauseMs: 60_000 });
    const charge = chargeOf();
    await spend(store, charge, 91n);
    for (let time = 0; time < 3; time += 1) {
      expect((await store.reserve(reservationOf([charge]))).kind).toBe('exceeded');
    }
    expect(commands()).toBe(1);
    expect(warnings).toEqual([{ event: 'usage_memory_failed', reason: 'TimeoutError' }]);
  });

  it('resets a bucket although Redis never responds', async () => {
    const store = await open(undefined, { pauseMs: 60_000 });
    const charge = chargeOf();
    await spend(store, charge, 91n);
    expect(await store.reset(charge, ADJUSTMENT)).toBe(true);
    expect((await store.reserve(reservationOf([charge]))).kind).toBe('admitted');
    // Tried although the call before failed: a Redis that responds again must not keep the refusal.
    expect(redis.received).toMatch(/set\r\n[^*]*reset\r\n/);
  });

  it.each(['READONLY You can not write', 'LOADING Redis is loading', 'NOAUTH Authentication required', 'MOVED 1 a:1'])(
    'serves calls with one warning when Redis returns %s',
    async (error) => {
      const store = await open(error, { pauseMs: 0 });
      const charge = chargeOf();
      await spend(store, charge, 91n);
      for (let time = 0; time < 3; time += 1) {
        expect((await store.reserve(reservationOf([charge]))).kind).toBe('exceeded');
      }
      expect((await store.reserve(reservationOf([charge], { bound: cost(9n) }))).kind).toBe('admitted');
      expect(warnings).toEqual([
        { event: 'usage_memory_failed', reason: expect.stringMatching(/^[A-Z]+ \((mget|set)\)$/) },
      ]);
      expect(commands()).toBeGreaterThan(3);
    },
  );

  it('does not ask Redis about calls without an enforced limit', async () => {
    const store = await open(undefined);
    expect((await store.reserve(reservationOf([]))).kind).toBe('admitted');
    expect((await store.reserve(reservationOf([chargeOf({ enforced: false, limit: 0n })]))).kind).toBe('admitted');
    expect(commands()).toBe(0);
  });
});
