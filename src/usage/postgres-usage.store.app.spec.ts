import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { eventually } from '../../test/support/eventually.js';
import { onServer } from '../../test/support/services.js';
import { TestClock } from '../../test/support/test-clock.js';
import { testDatabase } from '../../test/support/test-database.js';
import { dial, through, Wire } from '../../test/support/wire.js';
import type { TollgateDataSource } from '../database/tollgate-data-source.js';
import { BreakableDatabase } from './__fixtures__/broken-data-source.js';
import { NO_OBSERVER } from './__fixtures__/no-observer.js';
import { emptyUsage, inspect, openDataSource } from './__fixtures__/postgres-harness.js';
import type { TestedStore } from './__fixtures__/store-harness.js';
import { chargeOf, cost, ORGANISATION, reservationOf, settledAs, settlementOf } from './__fixtures__/usage.js';
import { PostgresUsageStore, type PostgresUsageStoreOptions } from './postgres-usage.store.js';
import { batchParameters, USAGE_BATCH } from './usage-batch.js';
import { MAX_COUNT } from './usage-work.js';
import { UsageReservation } from './usage-reservation.entity.js';
import { type Charge, type Reservation, StoreUnavailableError, type UnlimitedUsage } from './usage-store.types.js';

/** Reservations wait long enough for every lost answer to be noticed. */
const SLOW: PostgresUsageStoreOptions = { reserveTimeoutMs: 30_000, batchTimeoutMs: 300, retryPauseMs: 10 };
const QUICK: PostgresUsageStoreOptions = { reserveTimeoutMs: 150, batchTimeoutMs: 300, retryPauseMs: 10, drainMs: 300 };

let dataSource: TollgateDataSource;
let seen: TestedStore;
let stores: PostgresUsageStore[];

beforeAll(async () => {
  dataSource = await openDataSource();
});

afterAll(() => dataSource.destroy());

beforeEach(async () => {
  await emptyUsage(dataSource);
  stores = [];
});

afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()));
  expect(await seen.drifting()).toEqual([]);
});

function open(
  on: DataSource = dataSource,
  options: PostgresUsageStoreOptions = {},
  observer = NO_OBSERVER,
): PostgresUsageStore {
  const clock = new TestClock();
  const store = new PostgresUsageStore(on, clock, observer, options);
  stores.push(store);
  seen = inspect(store, clock, dataSource);
  return store;
}

const reserveAll = (store: PostgresUsageStore, reservations: readonly Reservation[]) =>
  Promise.all(reservations.map((reservation) => store.reserve(reservation)));

/** Usage that no policy limits. */
function note(): UnlimitedUsage {
  const { id, at, dimensions } = reservationOf([]);
  return { id, at, dimensions, ...settledAs(cost(1n)) };
}

/** Until when each withdrawn reservation cannot be written. */
async function withdrawn(): Promise<readonly Date[]> {
  const rows = await dataSource.getRepository(UsageReservation).find({
    where: { isWithdrawn: true },
    order: { expiresAt: 'ASC' },
  });
  return rows.map(({ expiresAt }) => expiresAt);
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('usage that nothing limits', () => {
  const NEVER = 3_600_000;

  it('writes unlimited usage before the store closes', async () => {
    const store = open(dataSource, { gatherMs: NEVER });
    store.record(note());
    await store.close();
    expect(await seen.ledger()).toHaveLength(1);
  });

  it('charges a lost reservation at once, without gathering', async () => {
    const store = open(dataSource, { gatherMs: NEVER });
    const charge = chargeOf();
    await store.settle(settlementOf(reservationOf([charge])));
    expect(await seen.bucket(charge)).toMatchObject({ used: 10n });
  });
});

describe('batches', () => {
  it('settles and admits all waiting work in one statement', async () => {
    const database = new BreakableDatabase(dataSource);
    const sizes: number[] = [];
    const store = open(database.dataSource, {}, { ...NO_OBSERVER, batchDone: (size) => sizes.push(size) });
    const charge = chargeOf({ limit: 1_000_000n });
    const first = Array.from({ length: 700 }, () => reservationOf([charge]));
    await reserveAll(store, first);
    const second = Array.from({ length: 100 }, () => reservationOf([charge]));
    await Promise.all([
      ...first.slice(0, 100).map((one) => store.settle(settlementOf(one))),
      reserveAll(store, second),
    ]);
    expect(sizes).toEqual([500, 200, 200]);
    expect(await seen.bucket(charge)).toEqual({ used: 1_000n, reserved: 7_000n, epoch: 0 });
  });

  it('reports the decision of each admission to the observer', async () => {
    const decisions: string[] = [];
    const store = open(dataSource, {}, { ...NO_OBSERVER, decided: (decision) => decisions.push(decision) });
    await store.reserve(reservationOf([chargeOf()]));
    await store.reserve(reservationOf([chargeOf({ limit: 0n })]));
    expect(decisions).toEqual(['admitted', 'exceeded']);
  });

  it('admits the other reservations of a batch when the database refuses one', async () => {
    const store = open();
    const charge = chargeOf();
    const good = Array.from({ length: 9 }, () => reservationOf([charge]));
    const [first] = good;
    const bad = reservationOf([{ ...charge, policyId: 'not a uuid' }]);
    const outcomes = await Promise.allSettled([...good, bad].map((reservation) => store.reserve(reservation)));
    expect(outcomes.map(({ status }) => status)).toEqual([...good.map(() => 'fulfilled'), 'rejected']);
    expect(await seen.bucket(charge)).toMatchObject({ reserved: 90n });
    if (first !== undefined) await store.settle(settlementOf(first));
  });

  it('accepts any text that a client may send', async () => {
    const store = open();
    const odd = 'a\0\uD800' + '\u{1F600}'.repeat(400);
    const plain = reservationOf([chargeOf({ valueKey: odd })]);
    const dimensions = {
      ...plain.dimensions,
      model: odd,
      traceId: odd,
      endpoint: odd,
      metadata: { __proto__: 'x', odd },
    };
    const reservation = { ...plain, dimensions };
    expect((await store.reserve(reservation)).kind).toBe('admitted');
    await store.settle(settlementOf(reservation));
    expect(await seen.ledger()).toHaveLength(1);
  });

  it('leaves room for other queries on a pool of one connection', async () => {
    const store = open();
    const charge = chargeOf({ limit: 10n ** 12n });
    let isOver = false;
    const callers = Array.from({ length: 50 }, async () => {
      while (!isOver) {
        const reservation = reservationOf([charge]);
        await store.reserve(reservation);
        await store.settle(settlementOf(reservation));
      }
    });
    for (let count = 0; count < 20; count += 1) await dataSource.query('SELECT 1');
    isOver = true;
    await Promise.all(callers);
    expect(await seen.bucket(charge)).toMatchObject({ reserved: 0n });
  });
});

describe('a refusal', () => {
  /** The rows that one batch with this admission writes. */
  async function writtenBy(reservation: Reservation): Promise<number> {
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();
    const soFar = async (): Promise<number> => {
      const [row]: readonly { readonly rows: number }[] = await runner.query(
        'SELECT sum(n_tup_ins + n_tup_upd + n_tup_del)::integer AS rows FROM pg_stat_xact_user_tables',
      );
      return row?.rows ?? -1;
    };
    try {
      const before = await soFar();
      await runner.query(USAGE_BATCH, [...batchParameters([{ kind: 'reserve', id: reservation.id, reservation }], 10)]);
      const written = (await soFar()) - before;
      await runner.commitTransaction();
      return written;
    } finally {
      await runner.release();
    }
  }

  it('writes nothing for a refusal, except a mark and an event for the first one by a bucket with usage', async () => {
    const store = open();
    const charge = chargeOf();
    const call = (): Reservation => reservationOf([charge], { bound: cost(30n) });
    expect(await writtenBy(reservationOf([charge], { bound: cost(101n) }))).toBe(0);
    for (let count = 0; count < 3; count += 1) {
      const reservation = call();
      await store.reserve(reservation);
      await store.settle(settlementOf(reservation));
    }
    expect(await writtenBy(call())).toBe(2);
    for (let count = 0; count < 3; count += 1) expect(await writtenBy(call())).toBe(0);
    expect(await seen.bucket(charge)).toEqual({ used: 90n, reserved: 0n, epoch: 0 });
  });

  it('notes a refusal under the limit that refused it, also when a batch has another limit', async () => {
    const store = open();
    const charge = chargeOf();
    const first = reservationOf([charge], { bound: cost(90n) });
    await store.reserve(first);
    await store.settle(settlementOf(first));
    const raised = { ...charge, limit: 200n };
    const outcomes = await reserveAll(store, [
      reservationOf([charge], { bound: cost(30n) }),
      reservationOf([raised], { bound: cost(30n) }),
    ]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['exceeded', 'admitted']);
    expect(await seen.alerts()).toEqual([]);
    expect(await seen.isExhausted(charge)).toBe(false);
  });
});

describe('reservations that are more together than a counter holds', () => {
  const MOST = 10n ** 15n;

  it('admits reservations beyond the size of a counter where nothing is enforced, and returns what was counted', async () => {
    const store = open();
    const charge = chargeOf({ enforced: false });
    const first = reservationOf([charge]);
    await store.reserve(first);
    await dataSource.query('UPDATE usage_buckets SET reserved = $1', [MAX_COUNT - MOST - 5n]);
    const [second, third, fourth] = [1, 2, 3].map(() => reservationOf([charge], { bound: cost(MOST) }));
    if (second === undefined || third === undefined || fourth === undefined) throw new Error('three were made');
    await reserveAll(store, [second, third]);
    await store.reserve(fourth);
    expect(await seen.bucket(charge)).toMatchObject({ used: 0n, reserved: MAX_COUNT });
    for (const reservation of [second, third, fourth]) await store.settle(settlementOf(reservation));
    expect(await seen.bucket(charge)).toMatchObject({ used: 3n * MOST, reserved: MAX_COUNT - MOST - 5n });
  });
});

describe('a reservation that cannot be charged', () => {
  const LATER = new Date('2026-11-22T00:00:00Z');
  const AN_HOUR = 3_600_000;
  const charge = chargeOf();
  const broken = reservationOf([charge]);
  /** Such a row is not written any more: it lacks the amounts that its counter reserved. */
  const breakIt = (): Promise<unknown> =>
    dataSource.query(`UPDATE usage_reservations SET amounts = '{}' WHERE id = $1`, [broken.id]);

  it('charges the other reservations of a dead gateway when one cannot be charged', async () => {
    const store = open();
    const others = Array.from({ length: 3 }, () => chargeOf());
    await reserveAll(store, [broken, ...others.map((other) => reservationOf([other]))]);
    await breakIt();
    expect(await store.reap(LATER)).toBe(3);
    for (const other of others) expect(await seen.bucket(other)).toEqual({ used: 10n, reserved: 0n, epoch: 0 });
    expect(await seen.ledger()).toHaveLength(3);
    expect(await seen.openReservations()).toBe(1);
  });

  it('postpones a reservation that cannot be charged for an hour, and charges it when it is possible', async () => {
    const store = open();
    await store.reserve(broken);
    await breakIt();
    expect(await store.reap(LATER)).toBe(0);
    await dataSource.query(`UPDATE usage_reservations SET amounts = '{10}' WHERE id = $1`, [broken.id]);
    expect(await store.reap(LATER)).toBe(0);
    expect(await store.reap(new Date(LATER.getTime() + AN_HOUR + 1))).toBe(1);
    expect(await seen.bucket(charge)).toEqual({ used: 10n, reserved: 0n, epoch: 0 });
  });
});

describe('a change of a limit', () => {
  const BUCKETS = 2_500;
  const AT_ONCE = 2_000;
  const hashOf = (place: number): string => String(place).padStart(22, '0');

  it('applies a changed limit at once to the most recent of very many buckets, and to the others with their next call', async () => {
    const store = open();
    const charge = chargeOf({ windowId: 'cum', resetsAt: undefined });
    const { policyId, windowId } = charge;
    await dataSource.query(
      `INSERT INTO usage_buckets (policy_id, bucket_hash, window_id, id, ordinal, organisation_id, value_key, unit, used,
         credit_limit, updated_at)
       SELECT $1, lpad(n::text, 22, '0'), $2, gen_random_uuid(), n, $3, 'x', 'cost', 60, 100, now() - n * interval '1 second'
       FROM generate_series(1, $4::integer) AS n`,
      [policyId, windowId, ORGANISATION, BUCKETS],
    );
    await store.changeLimit({ policyId, windowId, organisationId: ORGANISATION, limit: 50n, threshold: undefined });
    const isExhausted = (place: number): Promise<boolean> => seen.isExhausted({ ...charge, bucketHash: hashOf(place) });
    expect(await Promise.all([1, AT_ONCE, AT_ONCE + 1, BUCKETS].map(isExhausted))).toEqual([true, true, false, false]);
    expect(await seen.alerts()).toHaveLength(AT_ONCE);
    const lowered = { ...charge, bucketHash: hashOf(BUCKETS), limit: 50n };
    expect((await store.reserve(reservationOf([lowered]))).kind).toBe('exceeded');
    expect(await isExhausted(BUCKETS)).toBe(true);
    expect(await seen.alerts()).toHaveLength(AT_ONCE + 1);
    // The ledger has no rows for what these buckets have used.
    await emptyUsage(dataSource);
  });
});

describe('events', () => {
  const payloads = async (): Promise<readonly unknown[]> => {
    const rows: readonly { readonly payload: unknown }[] = await dataSource.query(
      'SELECT payload FROM webhook_outbox ORDER BY type',
    );
    return rows.map(({ payload }) => payload);
  };

  it('writes events in dollars and in UTC, whatever the timezone of the session', async () => {
    const store = open();
    const charge = chargeOf({ limit: 500_000_000_000n, threshold: 400_000_000_000n });
    const reservation = reservationOf([charge], { bound: cost(400_021_500_000n) });
    await store.reserve(reservation);
    await store.settle(settlementOf(reservation));
    const [bucket]: readonly { readonly id: string }[] = await dataSource.query('SELECT id FROM usage_buckets');
    expect(await payloads()).toEqual([
      {
        policy_id: charge.policyId,
        policy_name: null,
        type: 'cost',
        bucket: { id: bucket?.id, value_key: charge.valueKey },
        window: { id: '2026-11', resets_at: '2026-12-01T00:00:00.000Z' },
        credit_limit: 500,
        alert_threshold: 400,
        current_usage: 400.0215,
      },
    ]);
  });

  it('writes events in tokens, and null for missing figures', async () => {
    const store = open();
    const charge = chargeOf({ unit: 'tokens', windowId: 'cum', resetsAt: undefined, limit: 70n });
    const reservation = reservationOf([charge], { bound: cost(0n, 70n) });
    await store.reserve(reservation);
    await store.settle(settlementOf(reservation));
    await store.reset(charge, { organisationId: ORGANISATION, actorId: 'admin-1', reason: 'goodwill', at: new Date() });
    const rest = { type: 'tokens', window: { id: 'cum', resets_at: null }, alert_threshold: null, credit_limit: 70 };
    expect(await payloads()).toEqual([
      expect.objectContaining({ ...rest, current_usage: 70 }),
      expect.objectContaining({ ...rest, current_usage: 0 }),
    ]);
  });
});

describe('when an answer is lost after the database did the work', () => {
  it('sends a batch again after a lost answer, and counts it once', async () => {
    const database = new BreakableDatabase(dataSource);
    const store = open(database.dataSource);
    const charge = chargeOf({ limit: 50n });
    database.breakages.push('answer lost');
    const reservations = Array.from({ length: 8 }, () => reservationOf([charge]));
    const outcomes = await reserveAll(store, reservations);
    expect(outcomes.filter(({ kind }) => kind === 'admitted')).toHaveLength(5);
    expect(database.statements).toBe(2);
    const admitted = reservations.filter((_, index) => outcomes[index]?.kind === 'admitted');
    database.breakages.push('answer lost', 'answer lost', 'answer lost');
    await Promise.all(admitted.map((reservation) => store.settle(settlementOf(reservation))));
    expect(await seen.bucket(charge)).toEqual({ used: 50n, reserved: 0n, epoch: 0 });
    expect(await seen.ledger()).toHaveLength(5);
  });

  it('withdraws a reservation whose outcome is unknown after two lost answers', async () => {
    const database = new BreakableDatabase(dataSource);
    const store = open(database.dataSource, QUICK);
    const charge = chargeOf();
    database.breakages.push('answer lost', 'answer lost');
    await expect(store.reserve(reservationOf([charge]))).rejects.toThrow(StoreUnavailableError);
    await eventually(async () => (await seen.openReservations()) === 0);
    expect(await seen.bucket(charge)).toBeUndefined();
  });

  it.each([
    ['and then the database is gone', ['answer lost', 'refused']],
    ['and then there is no connection', ['answer lost', 'crowded out']],
    ['of a second try', ['refused', 'answer lost']],
  ] as const)('withdraws a reservation after a lost answer %s', async (_, breakages) => {
    const database = new BreakableDatabase(dataSource);
    const store = open(database.dataSource, SLOW);
    database.breakages.push(...breakages);
    await expect(store.reserve(reservationOf([chargeOf()]))).rejects.toThrow(StoreUnavailableError);
    await store.close();
    expect([await seen.openReservations(), await withdrawn()]).toEqual([0, [expect.any(Date)]]);
  });

  it.each([
    [1_000, 600_000],
    [3_600_000, 3_600_000],
  ])('keeps a reservation with a lease of %d ms withdrawn for %d ms', async (leaseMs, ms) => {
    const database = new BreakableDatabase(dataSource);
    const store = open(database.dataSource, SLOW);
    database.breakages.push('answer lost', 'answer lost');
    const startedAt = seen.clock.now().getTime();
    await expect(store.reserve(reservationOf([chargeOf()], { leaseMs }))).rejects.toThrow(StoreUnavailableError);
    await store.close();
    const [until, ...more] = (await withdrawn()).map((date) => date.getTime() - ms);
    expect(more).toEqual([]);
    expect(until).toBeGreaterThanOrEqual(startedAt);
    expect(until).toBeLessThanOrEqual(seen.clock.now().getTime());
  });
});

describe('when the database cannot be reached', () => {
  it.each(['refused', 'crowded out'] as const)(
    'leaves nothing behind of admissions that were never sent: %s',
    async (how) => {
      const database = new BreakableDatabase(dataSource);
      const store = open(database.dataSource, SLOW);
      const charge = chargeOf();
      database.breakages.push(how, how);
      const outcomes = await Promise.allSettled([1, 2, 3].map(() => store.reserve(reservationOf([charge]))));
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
      await database.freed();
      await store.close();
      expect(database.statements).toBe(2);
      expect([await seen.openReservations(), await withdrawn()]).toEqual([0, []]);
    },
  );

  it('rejects admissions while the database is away, and writes the kept settlements when it is back', async () => {
    const database = new BreakableDatabase(dataSource);
    const failures: number[] = [];
    const decisions: string[] = [];
    const observer = {
      ...NO_OBSERVER,
      batchFailed: () => failures.push(1),
      decided: (decision: string) => decisions.push(decision),
    };
    const store = open(database.dataSource, QUICK, observer);
    const charge = chargeOf();
    const reservation = reservationOf([charge]);
    await store.reserve(reservation);
    database.breakages.push(...Array.from({ length: 8 }, () => 'refused' as const));
    const settled = store.settle(settlementOf(reservation));
    await expect(store.reserve(reservationOf([charge]))).rejects.toThrow(StoreUnavailableError);
    await settled;
    expect(decisions).toEqual(['admitted', 'unavailable']);
    expect(failures.length).toBeGreaterThanOrEqual(3);
    expect(await seen.bucket(charge)).toEqual({ used: 10n, reserved: 0n, epoch: 0 });
    expect((await store.reserve(reservationOf([charge]))).kind).toBe('admitted');
  });

  it('says why an admission that waits too long is refused', async () => {
    const database = new BreakableDatabase(dataSource);
    const patient = open(database.dataSource, { ...QUICK, retryPauseMs: 5_000 });
    database.breakages.push('refused', 'refused');
    const failures = [1, 2].map(async () => {
      const error: unknown = await patient.reserve(reservationOf([chargeOf()])).catch((cause: unknown) => cause);
      return { error };
    });
    const [first] = await Promise.all(failures);
    expect(first?.error).toMatchObject({ cause: { cause: expect.objectContaining({ message: expect.any(String) }) } });
    // The store pauses after the failure, so that this one is never sent.
    const late: unknown = await patient.reserve(reservationOf([chargeOf()])).catch((cause: unknown) => cause);
    expect(late).toBeInstanceOf(StoreUnavailableError);
    expect(late).toMatchObject({ cause: Object(first?.error).cause });
  });

  it('writes kept settlements in their order, and withdraws late admissions of the outage', async () => {
    const database = new BreakableDatabase(dataSource);
    const store = open(database.dataSource, QUICK);
    const charge = chargeOf();
    const reservation = reservationOf([charge]);
    await store.reserve(reservation);
    database.breakages.push('refused', 'refused', 'silent');
    const presumed = store.settle(
      settlementOf(reservation, { figures: cost(30n), source: 'presumed', outcome: 'unknown' }),
    );
    const truth = store.settle(settlementOf(reservation, { figures: cost(20n) }));
    await expect(store.reserve(reservationOf([charge]))).rejects.toThrow(StoreUnavailableError);
    await Promise.all([presumed, truth]);
    expect(await seen.ledger()).toEqual([expect.objectContaining({ source: 'provider', costNano: 20n })]);
    await eventually(async () => (await seen.openReservations()) === 0);
  });

  it('closes within a bounded time, and logs what is lost', async () => {
    const database = new BreakableDatabase(dataSource);
    let dropped = 0;
    const store = open(database.dataSource, QUICK, { ...NO_OBSERVER, dropped: (count) => (dropped += count) });
    const reservation = reservationOf([chargeOf()]);
    await store.reserve(reservation);
    database.breakages.push(...Array.from({ length: 1_000 }, () => 'refused' as const));
    const settled = expect(store.settle(settlementOf(reservation))).rejects.toThrow(StoreUnavailableError);
    await new Promise((done) => setTimeout(done, 50));
    await store.close();
    await settled;
    expect(dropped).toBe(1);
    await expect(store.settle(settlementOf(reservation))).rejects.toThrow(StoreUnavailableError);
    await expect(store.reserve(reservationOf([]))).rejects.toThrow(StoreUnavailableError);
    // The reservation is still open: it will be presumed spent.
    expect(await seen.openReservations()).toBe(1);
  });

  it('does not repeat a statement that fails after the store has closed', async () => {
    const database = new BreakableDatabase(dataSource);
    let dropped = 0;
    const options = { ...QUICK, drainMs: 50, batchTimeoutMs: 200 };
    const store = open(database.dataSource, options, { ...NO_OBSERVER, dropped: (count) => (dropped += count) });
    const reservation = reservationOf([chargeOf()]);
    await store.reserve(reservation);
    const before = database.statements;
    database.breakages.push('silent', ...Array.from({ length: 1_000 }, () => 'refused' as const));
    const settled = expect(store.settle(settlementOf(reservation))).rejects.toThrow(StoreUnavailableError);
    await turn();
    await store.close();
    await settled;
    // Once, and a second try.
    expect([database.statements - before, dropped]).toEqual([2, 1]);
  });
});

describe('on a wire that can fall silent', () => {
  let wire: Wire;
  let wired: TollgateDataSource;

  beforeEach(async () => {
    const { url } = await testDatabase();
    // The embedded database serves one connection at a time.
    wire = new Wire(dial(url));
    wired = await openDataSource(through(url, await wire.listen()));
  });

  afterEach(async () => {
    await wired.destroy();
    await wire.cut();
  });

  it('rejects admissions within two seconds on a silent connection, and recovers soon after', async () => {
    const store = open(wired);
    const charge = chargeOf();
    const reservation = reservationOf([charge]);
    await store.reserve(reservation);
    wire.silence('silent');
    const settled = store.settle(settlementOf(reservation));
    const startedAt = Date.now();
    const refused: unknown = await store.reserve(reservationOf([charge])).catch((cause: unknown) => cause);
    expect(refused).toBeInstanceOf(StoreUnavailableError);
    expect(refused).toMatchObject({ cause: { message: 'no admission within 1500 ms' } });
    expect(Date.now() - startedAt).toBeLessThan(2_000);
    wire.silence('open');
    await settled;
    expect((await store.reserve(reservationOf([charge]))).kind).toBe('admitted');
    expect(await seen.bucket(charge)).toMatchObject({ used: 10n });
    await store.close();
  });
});

describe('several stores on one database', () => {
  const CALLERS = 200;

  /** Calls until the limit is reached; contended calls are tried again. */
  async function useUp(store: PostgresUsageStore, charges: readonly Charge[], amount: bigint): Promise<bigint> {
    let spent = 0n;
    for (;;) {
      const reservation = reservationOf(charges, { bound: cost(amount) });
      const { kind } = await store.reserve(reservation);
      if (kind === 'exceeded') return spent;
      if (kind !== 'admitted') continue;
      const actual = amount - BigInt(Math.floor(Math.random() * 3));
      await store.settle(settlementOf(reservation, { figures: cost(actual) }));
      spent += actual;
    }
  }

  it('never exceeds the limit together, uses it up, and raises each alert once', async () => {
    const limit = 5_000n;
    const charges = [chargeOf({ limit, threshold: 2_500n }), chargeOf({ limit: 6_000n }), chargeOf({ limit: 7_000n })];
    const all = Array.from({ length: 4 }, () => open());
    const spent = await Promise.all(
      Array.from({ length: CALLERS }, (_, index) => useUp(all[index % all.length] ?? open(), charges, 10n)),
    );
    const total = spent.reduce((sum, one) => sum + one, 0n);
    expect(total).toBeLessThanOrEqual(limit);
    expect(total).toBeGreaterThanOrEqual((limit * 99n) / 100n);
    for (const charge of charges) expect(await seen.bucket(charge)).toEqual({ used: total, reserved: 0n, epoch: 0 });
    expect((await seen.alerts()).filter((type) => type === 'usage_limit.threshold_reached')).toHaveLength(1);
    expect(await seen.openReservations()).toBe(0);
  });

  it('makes concurrent new buckets once, and no more than the policy may have', async () => {
    const all = Array.from({ length: 4 }, () => open(dataSource, { maxBuckets: 20 }));
    const crowded = chargeOf();
    const shared = chargeOf({ limit: 10_000n });
    const reservations = Array.from({ length: 400 }, (_, index) =>
      reservationOf([{ ...crowded, bucketHash: `bucket-${index % 40}`, limit: 10_000n }, shared]),
    );
    const outcomes = await Promise.all(
      reservations.map((reservation, index) => (all[index % all.length] ?? open()).reserve(reservation)),
    );
    const [row]: readonly { readonly count: number }[] = await dataSource.query(
      'SELECT count(*)::integer AS count FROM usage_buckets WHERE policy_id = $1',
      [crowded.policyId],
    );
    expect(row?.count).toBe(20);
    const admitted = outcomes.filter(({ kind }) => kind === 'admitted').length;
    expect(admitted).toBe(200);
    expect(await seen.bucket(shared)).toMatchObject({ reserved: BigInt(admitted) * 10n });
  });

  it('reaps each reservation once', async () => {
    const all = Array.from({ length: 4 }, () => open());
    const charge = chargeOf({ limit: 100_000n });
    await reserveAll(
      all[0] ?? open(),
      Array.from({ length: 600 }, () => reservationOf([charge])),
    );
    const later = new Date('2026-11-22T00:00:00Z');
    const reaped = await Promise.all(all.map((store) => store.reap(later)));
    expect(reaped.reduce((sum, count) => sum + count, 0)).toBe(600);
    expect(await seen.bucket(charge)).toEqual({ used: 6_000n, reserved: 0n, epoch: 0 });
  });
});

onServer('a reservation whose commit stalls (needs DATABASE_URL)', () => {
  /** Sends a batch, as a gateway does whose store has already given up waiting. */
  const send = (reservation: Reservation, on: Pick<DataSource, 'query'> = dataSource): Promise<unknown> =>
    on.query(USAGE_BATCH, [...batchParameters([{ kind: 'reserve', id: reservation.id, reservation }], 10)]);
  /** The number of sessions that wait for another's transaction. */
  async function waiting(): Promise<number> {
    const [row]: readonly { readonly count: number }[] = await dataSource.query(
      `SELECT count(*)::integer AS count FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%usage_batch%'`,
    );
    return row?.count ?? -1;
  }
  const LATER = new Date('2026-11-22T00:00:00Z');
  async function nothingCharged(charge: Charge): Promise<void> {
    await eventually(async () => (await seen.openReservations()) === 0);
    expect((await seen.bucket(charge)) ?? { used: 0n, reserved: 0n }).toMatchObject({ used: 0n, reserved: 0n });
    expect(await seen.store.reap(LATER)).toBe(0);
    expect(await seen.ledger()).toEqual([]);
  }

  it('withdraws a reservation when its stalled commit finishes, and does not delay other calls', async () => {
    const database = new BreakableDatabase(dataSource);
    const store = open(database.dataSource, { ...QUICK, reserveTimeoutMs: 10_000, batchTimeoutMs: 1_000 });
    const [charge, other] = [chargeOf(), chargeOf()];
    database.breakages.push('commit stalled');
    await expect(store.reserve(reservationOf([charge]))).rejects.toThrow(StoreUnavailableError);
    // The first try still holds its rows; the withdrawal waits for it.
    await eventually(async () => (await waiting()) > 0);
    for (let count = 0; count < 5; count += 1) {
      const passing = reservationOf([other]);
      expect((await store.reserve(passing)).kind).toBe('admitted');
      await store.release(passing.id, passing.at);
    }
    await database.commitStalled();
    await nothingCharged(charge);
  });

  it('withdraws a reservation with a release that comes before its commit', async () => {
    const store = open();
    const charge = chargeOf();
    const reservation = reservationOf([charge]);
    const gone = dataSource.createQueryRunner();
    await gone.startTransaction();
    await send(reservation, gone);
    const released = store.release(reservation.id, reservation.at);
    await eventually(async () => (await waiting()) === 1);
    await gone.commitTransaction();
    await gone.release();
    await released;
    await nothingCharged(charge);
  });

  it('does not admit a reservation that arrives after it was withdrawn', async () => {
    const store = open();
    const charge = chargeOf();
    const reservation = reservationOf([charge]);
    await store.release(reservation.id, reservation.at);
    await send(reservation);
    await nothingCharged(charge);
  });

  it('refuses all of a reservation that is withdrawn while it is being written', async () => {
    const store = open();
    const charge = chargeOf();
    const reservation = reservationOf([charge]);
    // Another session makes the same new bucket: the late reservation has been read, and is not written yet.
    const ahead = dataSource.createQueryRunner();
    await ahead.startTransaction();
    await ahead.query(
      `INSERT INTO usage_buckets (policy_id, bucket_hash, window_id, id, ordinal, organisation_id, value_key, unit, credit_limit)
       VALUES ($1, $2, $3, gen_random_uuid(), 1, $4, 'x', 'cost', 100)`,
      [charge.policyId, charge.bucketHash, charge.windowId, ORGANISATION],
    );
    const late = send(reservation);
    await eventually(async () => (await waiting()) === 1);
    await store.release(reservation.id, reservation.at);
    await ahead.rollbackTransaction();
    await ahead.release();
    await expect(late).rejects.toMatchObject({ driverError: { code: '40001' } });
    expect(await seen.bucket(charge)).toBeUndefined();
    await nothingCharged(charge);
  });

  it('keeps a reservation withdrawn when a second try of it is in flight as well', async () => {
    const database = new BreakableDatabase(dataSource);
    const store = open(database.dataSource, QUICK);
    const charge = chargeOf();
    const reservation = reservationOf([charge]);
    database.breakages.push('answer lost', 'silent');
    await expect(store.reserve(reservation)).rejects.toThrow(StoreUnavailableError);
    await eventually(async () => (await seen.openReservations()) === 0);
    await send(reservation);
    await nothingCharged(charge);
  });
});

onServer('two gateways that need the same new bucket (needs DATABASE_URL)', () => {
  it('decides one after the other when two gateways need the same new bucket', async () => {
    const store = open();
    const charge = chargeOf({ limit: 15n });
    const other = dataSource.createQueryRunner();
    await other.startTransaction();
    const reservation = reservationOf([charge]);
    await other.query(USAGE_BATCH, [...batchParameters([{ kind: 'reserve', id: reservation.id, reservation }], 10)]);
    const outcome = store.reserve(reservationOf([charge]));
    await new Promise((done) => setTimeout(done, 100));
    await other.commitTransaction();
    await other.release();
    expect((await outcome).kind).toBe('contended');
    expect(await seen.bucket(charge)).toMatchObject({ reserved: 10n });
  });
});

onServer('buckets that are deleted while calls go on (needs DATABASE_URL)', () => {
  it('makes the bucket again for a call that waited for the lock of the deleted one', async () => {
    const charge = chargeOf();
    const store = open();
    const spent = reservationOf([charge], { bound: cost(90n) });
    await store.reserve(spent);
    await store.settle(settlementOf(spent));
    const other = dataSource.createQueryRunner();
    await other.startTransaction();
    expect(await store.deleteBucket(charge, ORGANISATION, other.manager)).toBe('deleted');
    const outcome = store.reserve(reservationOf([charge], { bound: cost(60n) }));
    await eventually(async () => {
      const [waiting] = await dataSource.query(
        `SELECT count(*)::integer AS count FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%usage_batch%'`,
      );
      return waiting.count > 0;
    });
    await other.commitTransaction();
    await other.release();
    expect((await outcome).kind).toBe('admitted');
    expect(await seen.bucket(charge)).toEqual({ used: 0n, reserved: 60n, epoch: 0 });
    expect((await store.reserve(reservationOf([charge], { bound: cost(60n) }))).kind).toBe('contended');
  });

  it('refuses no call, never exceeds a limit, and loses no count', async () => {
    const charge = chargeOf({ limit: 100n });
    const groups = Array.from({ length: 4 }, (_, index) => ({ ...charge, bucketHash: `group-${index}` }));
    const stores = [open(), open()];
    let isOver = false;
    let calls = 0;
    const callers = Array.from({ length: 12 }, async (_, index) => {
      const store = stores[index % stores.length] ?? open();
      while (!isOver) {
        const reservation = reservationOf([groups[index % groups.length] ?? charge], { bound: cost(10n) });
        if ((await store.reserve(reservation)).kind === 'admitted') await store.settle(settlementOf(reservation));
        calls += 1;
      }
    });
    const results = new Set<string>();
    const end = Date.now() + 1_000;
    for (let turn = 0; Date.now() < end; turn += 1) {
      results.add(await (stores[0] ?? open()).deleteBucket(groups[turn % groups.length] ?? charge, ORGANISATION));
      const over = await dataSource.query('SELECT id FROM usage_buckets WHERE used + reserved > credit_limit');
      expect(over).toEqual([]);
    }
    isOver = true;
    await Promise.all(callers);
    expect(calls).toBeGreaterThan(20);
    expect(results).toContain('deleted');
    expect(await seen.drifting()).toEqual([]);
    const [ordinals] = await dataSource.query(
      'SELECT count(*)::integer AS count, COALESCE(max(ordinal), 0) AS last FROM usage_buckets',
    );
    expect(ordinals.last).toBe(ordinals.count);
  });
});

onServer('calls that cost nothing beside others, at two gateways (needs DATABASE_URL)', () => {
  it('leave no bucket behind, lose no count, and never wait for each other in a circle', async () => {
    const failed: unknown[] = [];
    const observer = { ...NO_OBSERVER, batchFailed: (cause: unknown) => void failed.push(cause) };
    const stores = [open(dataSource, {}, observer), open(dataSource, {}, observer)];
    const policies = [chargeOf({ limit: 1_000n }), chargeOf({ limit: 1_000n })];
    const group = (number: number): Charge[] => policies.map((charge) => ({ ...charge, bucketHash: `${number}` }));
    const callers = Array.from({ length: 16 }, async (_, index) => {
      const store = stores[index % stores.length] ?? open();
      for (let call = 0; call < 40; call += 1) {
        const number = (index + call) % 8;
        const reservation = reservationOf(group(number));
        expect((await store.reserve(reservation)).kind).toBe('admitted');
        if (call % 4 === 0) await store.release(reservation.id, reservation.at);
        else await store.settle(settlementOf(reservation, { figures: cost(number < 2 ? 1n : 0n) }));
      }
    });
    await Promise.all(callers);
    expect(failed).toEqual([]);
    expect(await seen.drifting()).toEqual([]);
    const left = await dataSource.query(
      'SELECT bucket_hash AS hash, ordinal FROM usage_buckets ORDER BY policy_id, ordinal',
    );
    expect(left.map(({ ordinal }: { ordinal: number }) => ordinal)).toEqual([1, 2, 1, 2]);
    expect(new Set(left.map(({ hash }: { hash: string }) => hash))).toEqual(new Set(['0', '1']));
  });
});

onServer('connections cut in the middle of their work (needs DATABASE_URL)', () => {
  it('loses no usage and counts none twice when connections are cut', async () => {
    const pools = await Promise.all([openDataSource(), openDataSource()]);
    const all = pools.map((pool) => open(pool, { retryPauseMs: 5, reserveTimeoutMs: 5_000 }));
    const charges = [chargeOf({ limit: 10n ** 9n }), chargeOf({ limit: 10n ** 9n, unit: 'tokens' })];
    const settled = new Map<string, bigint>();
    let isOver = false;
    const callers = Array.from({ length: 60 }, async (_, index) => {
      const store = all[index % all.length] ?? open();
      while (!isOver) {
        const reservation = reservationOf(charges, { bound: cost(10n, 100n) });
        const outcome = await store.reserve(reservation).catch((error: unknown) => {
          if (!(error instanceof StoreUnavailableError)) throw error;
          return undefined;
        });
        if (outcome?.kind !== 'admitted') continue;
        const actual = BigInt(1 + Math.floor(Math.random() * 10));
        await store.settle(settlementOf(reservation, { figures: cost(actual, 90n) }));
        settled.set(reservation.id, actual);
      }
    });
    let cuts = 0;
    try {
      for (let round = 0; round < 60; round += 1) {
        await new Promise((done) => setTimeout(done, Math.random() * 30));
        const [row]: readonly { readonly cuts: number }[] = await dataSource.query(`
          SELECT count(pg_terminate_backend(pid))::integer AS cuts FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%usage_batch%' AND state <> 'idle'`);
        cuts += row?.cuts ?? 0;
        // Where a statement takes longer than a round, every statement would be cut.
        const before = settled.size;
        if (round % 10 === 9) await eventually(() => settled.size > before);
      }
    } finally {
      isOver = true;
    }
    await Promise.all(callers);
    await Promise.all(all.map((store) => store.close()));
    expect(cuts).toBeGreaterThan(10);
    const ledger = await seen.ledger();
    expect(new Map(ledger.map(({ id, costNano }) => [id, costNano]))).toEqual(settled);
    expect(ledger).toHaveLength(settled.size);
    expect(await seen.openReservations()).toBe(0);
    const total = [...settled.values()].reduce((sum, one) => sum + one, 0n);
    const [money, tokens] = await Promise.all(charges.map((charge) => seen.bucket(charge)));
    expect(money).toEqual({ used: total, reserved: 0n, epoch: 0 });
    expect(tokens).toEqual({ used: BigInt(settled.size) * 90n, reserved: 0n, epoch: 0 });
    await Promise.all(pools.map((pool) => pool.destroy()));
  });
});
