import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { collectGarbage } from '../../../test/support/collect-garbage.js';
import { OpenLimiter } from './open-limiter.js';

function bytesInUse(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

describe('OpenLimiter', () => {
  it('admits at most the given number per key', () => {
    const limiter = new OpenLimiter(2);
    expect(['a', 'a', 'a', 'b'].map((key) => limiter.enter(key))).toEqual([true, true, false, true]);
  });

  it('admits as many again after all have left', () => {
    const limiter = new OpenLimiter(2);
    for (const key of ['a', 'a']) limiter.enter(key);
    for (const key of ['a', 'a']) limiter.leave(key);
    expect(['a', 'a', 'a'].map((key) => limiter.enter(key))).toEqual([true, true, false]);
  });

  it('forgets a key when its last call has left', () => {
    const limiter = new OpenLimiter(1);
    const before = bytesInUse();
    for (let each = 0; each < 1_000; each += 1) {
      const key = randomBytes(5_000).toString('hex');
      limiter.enter(key);
      limiter.leave(key);
    }
    // The keys take ten million bytes together.
    expect(bytesInUse() - before).toBeLessThan(2_000_000);
    expect(limiter.enter('a')).toBe(true);
  });
});
