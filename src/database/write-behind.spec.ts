import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { QueryFailedError } from 'typeorm';
import { eventually } from '../../test/support/eventually.js';
import { WriteBehind } from './write-behind.js';

class FakeDatabase {
  readonly batches: (readonly number[])[] = [];
  isAway = false;
  /** A batch with it is refused whole, as PostgreSQL does it. */
  refused: number | undefined;
  /** What the next writes come to, where that is something else. */
  answers: (Promise<void> | undefined)[] = [];

  write(items: readonly number[]): Promise<void> {
    const answer = this.answers.shift();
    if (answer !== undefined) return answer;
    if (this.isAway) return Promise.reject(new Error('away'));
    if (items.some((item) => item === this.refused)) {
      const driverError = Object.assign(new Error('out of range'), { code: '22003' });
      return Promise.reject(new QueryFailedError('INSERT', [], driverError));
    }
    this.batches.push(items);
    return Promise.resolve();
  }

  get items(): readonly number[] {
    return this.batches.flat();
  }
}

function start(options: { readonly retryPauseMs?: number; readonly drainMs?: number } = {}) {
  const database = new FakeDatabase();
  const lost: (readonly [count: number, isRefused: boolean])[] = [];
  const failures: number[] = [];
  const prepared: number[] = [];
  const buffer = new WriteBehind<number, number>({
    prepare: (item) => {
      prepared.push(item);
      return item;
    },
    write: (items) => database.write(items),
    onFailure: (_cause, waiting) => failures.push(waiting),
    onLoss: (count, cause) => lost.push([count, cause !== undefined]),
    maxBatch: 200,
    maxWaiting: 10_000,
    gatherMs: 500,
    retryPauseMs: 5_000,
    drainMs: 5_000,
    ...options,
  });
  /** From one number to before another. */
  const add = (from: number, to: number): void => {
    for (let item = from; item < to; item += 1) buffer.add(item);
  };
  return { database, lost, failures, prepared, buffer, add };
}

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_none, index) => index);

/** Time passes only where a test says so, half a second at once. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 500) {
    await turn();
    jest.advanceTimersByTime(500);
  }
  await turn();
}

describe('WriteBehind', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
  afterEach(() => void jest.useRealTimers());

  it('writes items in batches, each once and in order', async () => {
    const { database, buffer, add } = start();
    add(0, 450);
    await Promise.all([buffer.flush(), buffer.flush()]);
    expect(database.batches.map((batch) => batch.length)).toEqual([200, 200, 50]);
    expect(database.items).toEqual(upTo(450));
  });

  it('writes as soon as a batch is full, and the rest with the next batch or after the pause', async () => {
    const { database, add } = start();
    add(0, 199);
    await turn();
    expect(database.batches).toEqual([]);
    add(199, 450);
    await turn();
    expect(database.batches.map((batch) => batch.length)).toEqual([200, 200]);
    add(450, 600);
    await turn();
    expect(database.items).toEqual(upTo(600));
    add(600, 601);
    await pass(500);
    expect(database.items).toHaveLength(601);
    add(601, 850);
    await pass(500);
    expect(database.items).toEqual(upTo(850));
  });

  it('gathers items that come while a statement is in flight', async () => {
    const { database, add } = start();
    let answer: () => void = () => undefined;
    database.answers = [new Promise((done) => (answer = done))];
    add(0, 3);
    await pass(500);
    add(3, 6);
    answer();
    await turn();
    expect(database.batches).toEqual([]);
    add(6, 9);
    await pass(500);
    expect(database.batches).toEqual([[3, 4, 5, 6, 7, 8]]);
  });

  it('retries after the pause, and not with every further item, while the database is away', async () => {
    const { database, failures, add } = start();
    database.isAway = true;
    for (let item = 0; item < 300; item += 1) {
      add(item, item + 1);
      await turn();
    }
    await pass(4_500);
    expect(failures).toEqual([200]);
    database.isAway = false;
    await pass(1_000);
    add(300, 500);
    await turn();
    expect(database.items).toEqual(upTo(500));
  });

  it('retries once at once and then after the pause when a statement failed late', async () => {
    const { database, failures, add } = start();
    let failFirst: (error: Error) => void = () => undefined;
    database.answers = [new Promise((_done, fail) => (failFirst = fail))];
    add(0, 200);
    for (let item = 200; item < 210; item += 1) {
      add(item, item + 1);
      await pass(500);
    }
    database.isAway = true;
    failFirst(new Error('timeout'));
    await pass(4_500);
    expect(failures).toEqual([210]);
    database.isAway = false;
    await pass(500);
    expect([database.items, failures]).toEqual([upTo(210), [210]]);
    add(210, 410);
    await turn();
    expect(database.items).toEqual(upTo(410));
  });

  it('keeps items as far as there is room and reports lost ones at once for all', async () => {
    const { database, lost, prepared, buffer, add } = start();
    database.isAway = true;
    add(0, 10_050);
    await buffer.flush();
    database.isAway = false;
    await buffer.flush();
    expect(database.items).toEqual(upTo(10_000));
    expect(lost).toEqual([[50, false]]);
    // Nothing was made of what there was no room for.
    expect(prepared).toEqual(upTo(10_000));
  });

  it('drops an item that the database refuses, and no other', async () => {
    const { database, lost, buffer, add } = start();
    database.refused = 2;
    add(0, 7);
    await buffer.flush();
    expect(database.items).toEqual([0, 1, 3, 4, 5, 6]);
    expect(lost).toEqual([[1, true]]);
  });

  it('writes each item once when the database goes away between the halves of a refused batch', async () => {
    const { database, buffer, add } = start();
    add(0, 4);
    database.refused = 2;
    database.answers = [undefined, undefined, Promise.reject(new Error('away'))];
    await buffer.flush();
    expect(database.items).toEqual([0, 1]);
    await buffer.flush();
    expect(database.items).toEqual([0, 1, 3]);
  });
});

describe('the end of WriteBehind', () => {
  const QUICK = { retryPauseMs: 10, drainMs: 100 };

  it('closes when all items are written', async () => {
    const { database, lost, buffer, add } = start();
    add(0, 250);
    await buffer.close();
    expect([database.items.length, lost]).toEqual([250, []]);
  });

  it('waits at its end for a database that is away, and writes items that come meanwhile', async () => {
    const { database, lost, failures, buffer, add } = start();
    database.isAway = true;
    add(0, 3);
    const closed = buffer.close();
    await eventually(async () => failures.length > 1);
    database.isAway = false;
    add(3, 5);
    await closed;
    expect([database.items, lost]).toEqual([upTo(5), []]);
  });

  it.each([
    ['is away', (database: FakeDatabase) => void (database.isAway = true)],
    ['does not answer', (database: FakeDatabase) => void (database.answers = [new Promise(() => undefined)])],
  ])(
    'waits at its end no longer than its limit for a database that %s, and loses the rest and all later items',
    async (_how, fail) => {
      const { database, lost, buffer, add } = start(QUICK);
      fail(database);
      add(0, 3);
      await buffer.close();
      expect(lost).toEqual([[3, false]]);
      database.isAway = false;
      add(3, 4);
      await new Promise((done) => setTimeout(done, 50));
      expect([database.items, lost]).toEqual([
        [],
        [
          [3, false],
          [1, false],
        ],
      ]);
    },
  );

  it('reports each lost item once, also without room and when refused after the end', async () => {
    const { database, lost, failures, buffer, add } = start(QUICK);
    let refuse: (error: Error) => void = () => undefined;
    database.answers = [new Promise((_done, fail) => (refuse = fail))];
    add(0, 10_002);
    await Promise.all([buffer.close(), buffer.close()]);
    expect(lost).toEqual([[10_002, false]]);
    refuse(new QueryFailedError('INSERT', [], Object.assign(new Error('out of range'), { code: '22003' })));
    await turn();
    expect([lost.length, failures, database.items]).toEqual([1, [], []]);
  });
});
