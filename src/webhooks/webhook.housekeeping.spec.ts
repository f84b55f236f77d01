import { describe, expect, it } from '@jest/globals';
import { TestClock } from '../../test/support/test-clock.js';
import { WebhookHousekeeping } from './webhook.housekeeping.js';

/** As the database answers that has more to delete than one batch takes. */
const FULL = '[[], 1000]';

describe('webhook housekeeping', () => {
  it('keeps nobody who stops waiting for more than the batch under way', async () => {
    let statements = 0;
    let stopped: Promise<void> | undefined;
    const query = async <Result>(): Promise<Result> => {
      statements += 1;
      if (statements === 3) stopped = housekeeping.beforeApplicationShutdown();
      if (statements > 10) throw new Error('it goes on');
      return JSON.parse(FULL);
    };
    const housekeeping = new WebhookHousekeeping({ query }, new TestClock(), { warn: () => undefined });
    await housekeeping.sweep();
    await stopped;
    expect(statements).toBe(3);
  });
});
