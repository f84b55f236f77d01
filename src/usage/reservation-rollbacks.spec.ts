import { beforeEach, describe, expect, it } from '@jest/globals';
import { QueryFailedError } from 'typeorm';
import type { BatchRow } from './usage-batch.js';
import type { UsageWork } from './usage-work.js';
import { ReservationRollbacks } from './reservation-rollbacks.js';

const NOTHING: BatchRow = { o_outcomes: null, o_verdicts: null, o_used: null, o_reserved: null, o_lost: null };
const AT = new Date('2026-11-21T09:00:00Z');

const released = (id: string): UsageWork => ({ kind: 'release', id, at: AT, expiresAt: AT, isFinal: true });

class FakeConnection {
  readonly batches: string[][] = [];
  /** The ids of each batch, in order. */
  readonly failures: Error[] = [];
  /** Ids that the database never accepts. */
  poison: string | undefined;

  async run(works: readonly UsageWork[]): Promise<BatchRow> {
    const ids = works.map(({ id }) => id);
    this.batches.push(ids);
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    if (this.poison !== undefined && ids.includes(this.poison)) {
      throw new QueryFailedError('SELECT', [], Object.assign(new Error('invalid uuid'), { code: '22P02' }));
    }
    return NOTHING;
  }
}

describe('withdrawals', () => {
  let connection: FakeConnection;
  let failed: number;
  let dropped: number;
  let withdrawals: ReservationRollbacks;

  beforeEach(() => {
    connection = new FakeConnection();
    failed = dropped = 0;
    const observer = { batchFailed: () => (failed += 1), dropped: (count: number) => (dropped += count) };
    withdrawals = new ReservationRollbacks(connection, observer, { maxBatch: 2, retryPauseMs: 1 });
  });

  it('withdraws reservations in their order, as many at once as a batch may have', async () => {
    for (const id of ['a', 'b', 'c']) withdrawals.add(released(id));
    await withdrawals.drained();
    expect(connection.batches).toEqual([['a', 'b'], ['c']]);
  });

  it('tries a withdrawal again until it is written', async () => {
    connection.failures.push(new Error('lock timeout'), new Error('lock timeout'));
    withdrawals.add(released('a'));
    await withdrawals.drained();
    expect([connection.batches.length, failed, dropped]).toEqual([3, 2, 0]);
  });

  it('writes the other withdrawals when one fails', async () => {
    connection.poison = 'b';
    for (const id of ['a', 'b', 'c']) withdrawals.add(released(id));
    await withdrawals.drained();
    expect(connection.batches).toEqual([['a', 'b'], ['a'], ['b'], ['c']]);
    expect([failed, dropped]).toEqual([0, 1]);
  });

  it('counts withdrawals that remain at shutdown, or that come after it', async () => {
    connection.failures.push(new Error('gone'));
    for (const id of ['a', 'b']) withdrawals.add(released(id));
    await Promise.resolve();
    withdrawals.close();
    withdrawals.add(released('c'));
    await withdrawals.drained();
    expect([connection.batches, dropped]).toEqual([[['a', 'b']], 3]);
  });
});
