import { expect, it } from '@jest/globals';
import { closeInTime } from './shutdown.js';

const closing = (outcome: Promise<void>, limitMs?: number): Promise<void> =>
  closeInTime({ close: () => outcome }, limitMs);

it('closeInTime rejects when closing takes too long', async () => {
  await expect(closing(new Promise(() => undefined), 50)).rejects.toThrow('not closed within 50 ms');
});

it('closeInTime rejects with the error of closing', async () => {
  await expect(closing(Promise.reject(new Error('the pool is gone')))).rejects.toThrow('the pool is gone');
});

it('closeInTime leaves no timer behind when closing is done in time', async () => {
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  await closing(Promise.resolve());
  expect(timers()).toBe(before);
});
