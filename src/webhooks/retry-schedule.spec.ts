import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MAX_ATTEMPTS, retryWaitMs } from './delivery-outcome.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const random = fc.double({ min: 0, max: 1, noNaN: true });

describe('retryWaitMs', () => {
  it('follows the schedule that Standard Webhooks recommends', () => {
    const waits = Array.from({ length: MAX_ATTEMPTS }, (_, attempts) => retryWaitMs(attempts, undefined, 0));
    const hours = [2, 5, 10, 14, 20, 24].map((count) => count * HOUR_MS);
    expect(waits).toEqual([0, 5_000, 300_000, 1_800_000, ...hours]);
  });

  it('ends after the tenth attempt, even when the receiver asks for another', () => {
    expect(retryWaitMs(10, undefined, 0)).toBeUndefined();
    expect(retryWaitMs(10, 1_000, 0)).toBeUndefined();
    expect(retryWaitMs(1_000, undefined, 1)).toBeUndefined();
  });

  it('adds a random wait of up to a fifth', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), random, (attempts, chance) => {
        const [least, wait] = [
          retryWaitMs(attempts, undefined, 0) ?? -1,
          retryWaitMs(attempts, undefined, chance) ?? -1,
        ];
        return wait >= least && wait <= least * 1.2;
      }),
    );
  });

  it('waits longer when the receiver asks for it, a day at most, and never shorter', () => {
    expect(retryWaitMs(1, HOUR_MS, 0)).toBe(HOUR_MS);
    expect(retryWaitMs(1, 365 * DAY_MS, 0)).toBe(DAY_MS);
    expect(retryWaitMs(3, 1_000, 0)).toBe(1_800_000);
    expect(retryWaitMs(3, 0, 0)).toBe(1_800_000);
  });
});
