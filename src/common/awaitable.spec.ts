import { describe, expect, it } from '@jest/globals';
import { orRejection, whenKnown } from './awaitable.js';

const fail = (): never => {
  throw new Error('refused');
};

describe('whenKnown', () => {
  it('uses at once what is there', () => {
    expect(whenKnown(1, (known) => known + 1)).toBe(2);
    expect(() => whenKnown(1, fail)).toThrow('refused');
  });

  it('waits for what is not', async () => {
    const later = whenKnown(Promise.resolve(1), (known) => known + 1);
    expect(later).toBeInstanceOf(Promise);
    expect(await later).toBe(2);
    await expect(whenKnown(Promise.resolve(1), fail)).rejects.toThrow('refused');
  });
});

describe('orRejection', () => {
  it('hands on what is there', () => expect(orRejection(() => 1)).toBe(1));

  it('keeps what is thrown for whoever asks', async () => {
    const kept = orRejection(fail);
    await expect(kept).rejects.toThrow('refused');
    await expect(kept).rejects.toThrow('refused');
  });
});
