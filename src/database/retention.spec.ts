import { beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../test/support/eventually.js';
import { Clock } from '../common/time/clock.js';
import { Retention } from './retention.js';

const DAY = 86_400_000;

type Query = (statement: string, parameters: readonly unknown[]) => Promise<number>;

class TestRetention extends Retention {
  protected override deleteBefore(time: Date): Promise<void> {
    return this.deleteInBatches('DELETE', time);
  }
}

const NOW = new Date('2026-03-01T00:00:00Z');
const clock = new (class extends Clock {
  override now(): Date {
    return NOW;
  }
})();
let warnings: unknown[];
let asked: unknown[];

beforeEach(() => {
  warnings = [];
  asked = [];
});

/** @param deleted how many rows a statement deletes */
function retentionOn(deleted: Query): TestRetention {
  const query = async <Result>(statement: string, parameters: readonly unknown[] = []): Promise<Result> => {
    asked.push([statement, ...parameters]);
    if (asked.length > 10) throw new Error('it goes on');
    return JSON.parse(JSON.stringify([[], await deleted(statement, parameters)]));
  };
  const logger = { warn: (line: object) => warnings.push(line) };
  return new TestRetention({ database: { query }, clock, logger, keptDays: 30, failureEvent: 'it_failed' });
}

describe('retention', () => {
  it('deletes batch after batch until one is not full', async () => {
    const left = [1_000, 1_000, 7];
    await retentionOn(async () => left.shift() ?? 0).sweep();
    const batch = ['DELETE', new Date(NOW.getTime() - 30 * DAY), 1_000];
    expect([asked, warnings]).toEqual([[batch, batch, batch], []]);
  });

  it('starts to delete when the gateway starts', async () => {
    const retention = retentionOn(async () => 0);
    retention.onApplicationBootstrap();
    await eventually(async () => asked.length === 1);
    await retention.beforeApplicationShutdown();
  });

  it('stops after the batch in progress', async () => {
    let stopped: Promise<void> | undefined;
    const retention = retentionOn(async () => {
      if (asked.length === 3) stopped = retention.beforeApplicationShutdown();
      return 1_000;
    });
    await retention.sweep();
    await stopped;
    expect([asked.length, warnings]).toEqual([3, []]);
  });

  it('logs a failure and goes on with the next sweep', async () => {
    let failures = 1;
    const retention = retentionOn(async () => {
      if (failures-- > 0) throw new Error('away');
      return 0;
    });
    await retention.sweep();
    await retention.sweep();
    expect(asked).toHaveLength(2);
    expect(warnings).toEqual([{ event: 'it_failed', error: expect.objectContaining({ name: 'Error' }) }]);
  });
});
