import { describe, expect, it } from '@jest/globals';
import { toRejection, chain } from './maybe-promise.js';

const fail = (): never => {
  throw new Error('refused');
};

describe('chain', () => {
  it('applies the function synchronously to a value', () => {
    expect(chain(1, (known) => known + 1)).toBe(2);
    expect(() => chain(1, fail)).toThrow('refused');
  });

  it('waits for a promise', async () => {
    const later = chain(Promise.resolve(1), (known) => known + 1);
    expect(later).toBeInstanceOf(Promise);
    expect(await later).toBe(2);
    await expect(chain(Promise.resolve(1), fail)).rejects.toThrow('refused');
  });
});

describe('toRejection', () => {
  it('returns a value unchanged', () => expect(toRejection(() => 1)).toBe(1));

  it('turns a synchronous exception into a rejection', async () => {
    const kept = toRejection(fail);
    await expect(kept).rejects.toThrow('refused');
    await expect(kept).rejects.toThrow('refused');
  });
});
