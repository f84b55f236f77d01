import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { TestClock } from '../../test/support/test-clock.js';
import type { TollgateDataSource } from '../database/tollgate-data-source.js';
import { MemoryUsageStore } from './__fixtures__/memory-usage.store.js';
import { NO_OBSERVER } from './__fixtures__/no-observer.js';
import { openDataSource } from './__fixtures__/postgres-harness.js';
import { chargeOf, cost, reservationOf, settlementOf } from './__fixtures__/usage.js';
import { PostgresUsageStore } from './postgres-usage.store.js';
import { UsageHousekeepingService } from './usage-housekeeping.service.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

class FakeDatabase {
  readonly statements: string[] = [];
  failure: Error | undefined;

  async query<T>(sql: string): Promise<T> {
    this.statements.push(sql);
    if (this.failure !== undefined) throw this.failure;
    return JSON.parse('[{"count":7}]');
  }

  get partitionings(): number {
    return this.statements.filter((sql) => sql.includes('usage_make_partitions')).length;
  }
}

describe('housekeeping', () => {
  let clock: TestClock;
  let store: MemoryUsageStore;
  let database: FakeDatabase;
  let warnings: string[];
  let counts: number[];
  let service: UsageHousekeepingService;

  beforeEach(() => {
    clock = new TestClock();
    store = new MemoryUsageStore(clock);
    database = new FakeDatabase();
    warnings = [];
    counts = [];
    service = new UsageHousekeepingService(
      store,
      database,
      clock,
      { ...NO_OBSERVER, reservationsOpen: (count) => counts.push(count) },
      { warn: ({ task }: { readonly task: string }) => warnings.push(task) },
    );
  });

  it('does no more housekeeping once the gateway stops', async () => {
    await service.beforeApplicationShutdown();
    await service.tidy();
    expect([database.statements, counts]).toEqual([[], []]);
  });

  it('charges the reservations of a dead gateway, by the given clock', async () => {
    await store.reserve(reservationOf([chargeOf()], { at: clock.now() }));
    await service.tidy();
    expect(store.reservations.size).toBe(1);
    clock.advance(2 * MINUTE);
    await service.tidy();
    expect([...store.events.values()]).toEqual([
      expect.objectContaining({ usage: expect.objectContaining({ source: 'presumed' }) }),
    ]);
  });

  it('maintains partitions once an hour, and sooner after a failure', async () => {
    database.failure = new Error('lock timeout');
    await service.tidy();
    database.failure = undefined;
    await service.tidy();
    await service.tidy();
    expect(database.partitionings).toBe(2);
    clock.advance(HOUR);
    await service.tidy();
    expect(database.partitionings).toBe(3);
  });

  it('reports the number of calls in flight', async () => {
    await service.tidy();
    expect(counts).toEqual([7]);
  });

  it('continues with the other tasks when one fails', async () => {
    jest.spyOn(store, 'reap').mockRejectedValue(new Error('gone'));
    await service.tidy();
    expect(warnings).toEqual(['reap']);
    expect(database.partitionings).toBe(1);
  });

  describe('by itself', () => {
    beforeEach(() => {
      jest.useFakeTimers({ doNotFake: ['queueMicrotask', 'nextTick'] });
    });

    afterEach(() => {
      jest.useRealTimers();
    });

    it('runs at the start and every five seconds, one round at a time, until it is stopped', async () => {
      const reap = jest.spyOn(store, 'reap');
      service.onApplicationBootstrap();
      expect(reap).toHaveBeenCalledTimes(1);
      let finish = (): void => undefined;
      reap.mockReturnValueOnce(new Promise((resolve) => (finish = () => resolve(0))));
      await jest.advanceTimersByTimeAsync(20_000);
      expect(reap).toHaveBeenCalledTimes(2);
      const stopped = service.beforeApplicationShutdown();
      finish();
      await stopped;
      await jest.advanceTimersByTimeAsync(20_000);
      expect(reap).toHaveBeenCalledTimes(2);
    });
  });
});

describe('the partitions of the ledger', () => {
  let dataSource: TollgateDataSource;

  beforeAll(async () => {
    dataSource = await openDataSource();
  });

  afterAll(async () => {
    for (const month of ['2031_06', '2031_07', '2031_08', '2031_09', '2031_12', '2032_01', '2032_02']) {
      await dataSource.query(`DROP TABLE IF EXISTS usage_events_${month}`);
    }
    await dataSource.query('DELETE FROM usage_events');
    await dataSource.destroy();
  });

  const make = async (now: string): Promise<number> => {
    const [row]: readonly { readonly made: number }[] = await dataSource.query(
      'SELECT usage_make_partitions($1, 2) AS made',
      [now],
    );
    return row?.made ?? -1;
  };
  const partitionOf = async (id: string): Promise<string | undefined> => {
    const [row]: readonly { readonly name: string }[] = await dataSource.query(
      'SELECT tableoid::regclass::text AS name FROM usage_events WHERE id = $1',
      [id],
    );
    return row?.name;
  };

  it('has partitions for this month and the next two after a round of housekeeping', async () => {
    const clock = new TestClock();
    clock.advance(Date.parse('2031-06-15T12:00:00Z') - clock.now().getTime());
    const logger = { warn: jest.fn() };
    await new UsageHousekeepingService(new MemoryUsageStore(clock), dataSource, clock, NO_OBSERVER, logger).tidy();
    expect(logger.warn).not.toHaveBeenCalled();
    expect(await make('2031-06-01T00:00:00Z')).toBe(0);
    expect(await make('2031-07-01T00:00:00Z')).toBe(1);
  });

  it('makes each partition once, across the end of a year; earlier rows move in, and can still be corrected', async () => {
    const store = new PostgresUsageStore(dataSource, new TestClock(), NO_OBSERVER);
    const charge = chargeOf({ windowId: '2032-01' });
    const late = reservationOf([charge], { at: new Date('2032-01-31T23:59:59.999Z') });
    const other = reservationOf([charge], { at: new Date('2032-03-01T00:00:00.000Z') });
    for (const reservation of [late, other]) {
      await store.reserve(reservation);
      await store.settle(settlementOf(reservation, { source: 'presumed', outcome: 'unknown' }));
    }
    expect(await partitionOf(late.id)).toBe('usage_events_other');

    const made = await Promise.all([make('2031-12-31T23:59:59Z'), make('2031-12-01T00:00:00Z')]);
    expect(made.sort()).toEqual([0, 3]);
    expect(await partitionOf(late.id)).toBe('usage_events_2032_01');
    expect(await partitionOf(other.id)).toBe('usage_events_other');

    await store.settle(settlementOf(late, { figures: cost(4n) }));
    await store.settle(settlementOf(late));
    const rows = await dataSource.query('SELECT source, cost_nano FROM usage_events WHERE id = $1', [late.id]);
    expect(rows).toEqual([{ source: 'provider', cost_nano: '4' }]);
    await store.close();
  });
});
