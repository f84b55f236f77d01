import { expect, it } from '@jest/globals';
import { closeInTime } from './shutdown.js';

const closing = (outcome: Promise<void>, limitMs?: number): Promise<void> =>
  closeInTime({ close: () => outcome }, limitMs);

it('closing takes no longer than it may', async () => {
  await expect(closing(new Promise(() => undefined), 50)).rejects.toThrow('not closed within 50 ms');
});

it('closing tells what it fails with', async () => {
  await expect(closing(Promise.reject(new Error('the pool is gone')))).rejects.toThrow('the pool is gone');
});

it('closing leaves no timer behind when it is done in time', async () => {
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  await closing(Promise.resolve());
  expect(timers()).toBe(before);
});
