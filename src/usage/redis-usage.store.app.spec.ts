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
/** A machine that is busy with other tests must not make Redis look slow. */
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
  /** A gateway's store. */
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
  /** What `work` decides, and how many statements the database got for it. */
  async function asked(work: () => Promise<ReserveOutcome>): Promise<{ kind: string; statements: number }> {
    const before = database.statements;
    const { kind } = await work();
    return { kind, statements: database.statements - before };
  }
  const FROM_MEMORY = { kind: 'exceeded', statements: 0 };
  const FROM_DATABASE = { kind: 'exceeded', statements: 1 };
  const ADMITTED = { kind: 'admitted', statements: 1 };

  /** A bucket with 91 of 100 used, whose refusal of 10 more is remembered. */
  async function usedUp(store: UsageStore, charge = chargeOf()): Promise<Charge> {
    await spend(store, charge, 91n);
    expect(await asked(() => store.reserve(reservationOf([charge])))).toEqual(FROM_DATABASE);
    await remember(charge);
    return charge;
  }

  it('are answered without the database, with the same figures, and counted', async () => {
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

  it('are shared by all gateways', async () => {
    const [one, other] = [open(), open()];
    const charge = await usedUp(one);
    expect(await asked(() => other.reserve(reservationOf([charge])))).toEqual(FROM_MEMORY);
  });

  it('are asked of the database again after a while, however often they are repeated', async () => {
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

  it('leave no more than seconds behind', async () => {
    const charge = await usedUp(open());
    const lifetime = await redis.client.pttl(keyOf(charge));
    expect(lifetime).toBeGreaterThan(0);
    expect(lifetime).toBeLessThanOrEqual(5_000);
  });

  it('do not outlast a raise of the limit, and hold for one that is lowered', async () => {
    const store = open();
    const charge = await usedUp(store);
    expect(await asked(() => store.reserve(reservationOf([{ ...charge, limit: 101n }])))).toEqual(ADMITTED);
    expect(await asked(() => store.reserve(reservationOf([{ ...charge, limit: 50n }])))).toEqual(FROM_MEMORY);
  });

  it('leave what still fits to the database', async () => {
    const store = open();
    const charge = await usedUp(store);
    expect(await asked(() => store.reserve(reservationOf([charge], { bound: cost(9n) })))).toEqual(ADMITTED);
    expect(await asked(() => store.reserve(reservationOf([charge], { bound: cost(0n) })))).toEqual(ADMITTED);
  });

  it('are exact beyond what a floating-point number holds', async () => {
    const store = open();
    const charge = chargeOf({ limit: 10n ** 16n + 2n });
    for (const amount of [...Array.from({ length: 10 }, () => 10n ** 15n), 1n]) await spend(store, charge, amount);
    const two = (): Promise<ReserveOutcome> => store.reserve(reservationOf([charge], { bound: cost(2n) }));
    expect(await asked(two)).toEqual(FROM_DATABASE);
    await remember(charge);
    expect(await asked(two)).toEqual(FROM_MEMORY);
    expect(await asked(() => store.reserve(reservationOf([charge], { bound: cost(1n) })))).toEqual(ADMITTED);
  });

  it('are of one window', async () => {
    const store = open();
    const november = await usedUp(store);
    expect(await asked(() => store.reserve(reservationOf([{ ...november, windowId: '2026-12' }])))).toEqual(ADMITTED);
  });

  it('are of one bucket: of two charges only the one in the way is named, and the other works on', async () => {
    const store = open();
    const [spare, full] = [chargeOf(), await usedUp(store)];
    const both = await store.reserve(reservationOf([spare, full]));
    expect(both).toMatchObject({ kind: 'exceeded', failing: [{ policyId: full.policyId, used: 91n, limit: 100n }] });
    expect(remembered).toBe(1);
    expect(await asked(() => store.reserve(reservationOf([spare])))).toEqual(ADMITTED);
    expect(await redis.client.exists(keyOf(spare))).toBe(0);
  });

  it('are of one tenant', async () => {
    const store = open();
    const charge = await usedUp(store);
    const stranger = { ...reservationOf([]).dimensions, organisationId: randomUUID() };
    const theirs = { ...charge, policyId: randomUUID() };
    expect(await asked(() => store.reserve(reservationOf([charge], { dimensions: stranger })))).toEqual(FROM_DATABASE);
    expect(await asked(() => store.reserve(reservationOf([theirs], { dimensions: stranger })))).toEqual(ADMITTED);
  });

  it('never concern a policy that only watches', async () => {
    const store = open();
    const charge = await usedUp(store);
    expect(await asked(() => store.reserve(reservationOf([{ ...charge, enforced: false }])))).toEqual(ADMITTED);
  });

  it('do not hide figures that cannot be counted', async () => {
    const store = open();
    const charge = await usedUp(store);
    for (const absurd of [-1n, 10n ** 16n]) {
      await expect(store.reserve(reservationOf([charge], { bound: cost(absurd) }))).rejects.toThrow(RangeError);
    }
  });

  it('are not made of what passes in moments', async () => {
    const store = open(memoryOf(), durableStore(1));
    const [busy, full] = [chargeOf(), chargeOf()];
    const running = reservationOf([busy], { bound: cost(95n) });
    await store.reserve(running);
    expect((await store.reserve(reservationOf([busy]))).kind).toBe('contended');
    expect((await store.reserve(reservationOf([{ ...busy, bucketHash: 'one-too-many' }]))).kind).toBe('crowded');
    await spend(store, full, 100n);
    // Refused by one for good, and by another for the moment.
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
  ])('are not read out of %s', async (_what, value) => {
    const store = open();
    const charge = chargeOf();
    await redis.client.set(keyOf(charge), value);
    expect(await asked(() => store.reserve(reservationOf([charge])))).toEqual(ADMITTED);
  });

  it('are not read out of a key of another type, which costs nobody anything', async () => {
    const store = open();
    const [charge, full] = [chargeOf(), await usedUp(store)];
    await redis.client.rpush(keyOf(charge), '91:0');
    await spend(store, charge, 91n);
    for (let time = 0; time < 2; time += 1) {
      expect(await asked(() => store.reserve(reservationOf([charge])))).toEqual(FROM_DATABASE);
    }
    expect(await asked(() => store.reserve(reservationOf([charge, full])))).toEqual(FROM_MEMORY);
  });

  it('are gone with all that Redis forgets', async () => {
    const store = open();
    const charge = await usedUp(store);
    await redis.client.del(keyOf(charge));
    expect(await asked(() => store.reserve(reservationOf([charge])))).toEqual(FROM_DATABASE);
    await remember(charge);
    expect(await asked(() => store.reserve(reservationOf([charge])))).toEqual(FROM_MEMORY);
  });

  it('end with a reset, also on the other gateways', async () => {
    const [one, other] = [open(), open()];
    const charge = await usedUp(one);
    expect(await other.reset(charge, ADJUSTMENT)).toBe(true);
    expect(await asked(() => one.reserve(reservationOf([charge])))).toEqual(ADMITTED);
  });

  it('do not end with the reset of another tenant', async () => {
    const store = open();
    const charge = await usedUp(store);
    expect(await store.reset(charge, { ...ADJUSTMENT, organisationId: randomUUID() })).toBe(false);
    expect(await asked(() => store.reserve(reservationOf([charge])))).toEqual(FROM_MEMORY);
  });

  it('that were decided before a reset and arrive after it are not remembered', async () => {
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

  it('are remembered again when the budget is used up once more', async () => {
    const store = open(memoryOf({ rememberMs: 1_500 }));
    const charge = await usedUp(store);
    await store.reset(charge, ADJUSTMENT);
    await spend(store, charge, 91n);
    await eventually(async () => (await redis.client.exists(keyOf(charge))) === 0);
    expect(await asked(() => store.reserve(reservationOf([charge])))).toEqual(FROM_DATABASE);
    await remember(charge);
    expect(await asked(() => store.reserve(reservationOf([charge])))).toEqual(FROM_MEMORY);
  });

  it('leave the connection to others when the store closes', async () => {
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

    it('are the database’s while Redis is gone, and remembered again when it is back', async () => {
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

    it('are the database’s while Redis is silent, and remembered again when it speaks', async () => {
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

  it('that never answers keeps no call waiting for ever, and is left alone for a while', async () => {
    const store = await open(undefined, { pauseMs: 60_000 });
    const charge = chargeOf();
    await spend(store, charge, 91n);
    for (let time = 0; time < 3; time += 1) {
      expect((await store.reserve(reservationOf([charge]))).kind).toBe('exceeded');
    }
    expect(commands()).toBe(1);
    expect(warnings).toEqual([{ event: 'usage_memory_failed', reason: 'TimeoutError' }]);
  });

  it('that never answers does not keep a reset from happening', async () => {
    const store = await open(undefined, { pauseMs: 60_000 });
    const charge = chargeOf();
    await spend(store, charge, 91n);
    expect(await store.reset(charge, ADJUSTMENT)).toBe(true);
    expect((await store.reserve(reservationOf([charge]))).kind).toBe('admitted');
    // Tried although the call before had failed: on a Redis that speaks again the refusal must not live on.
    expect(redis.received).toMatch(/set\r\n[^*]*reset\r\n/);
  });

  it.each(['READONLY You can not write', 'LOADING Redis is loading', 'NOAUTH Authentication required', 'MOVED 1 a:1'])(
    'that says %s costs nothing, and one warning',
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

  it('is not asked about calls that no limit is enforced for', async () => {
    const store = await open(undefined);
    expect((await store.reserve(reservationOf([]))).kind).toBe('admitted');
    expect((await store.reserve(reservationOf([chargeOf({ enforced: false, limit: 0n })]))).kind).toBe('admitted');
    expect(commands()).toBe(0);
  });
});
