import { access } from 'node:fs/promises';
import { expect, it } from '@jest/globals';
import { answerWithin } from './answer-within.js';

const LIMIT_MS = 20;

function keepBusy(ms: number): void {
  const startedAt = performance.now();
  while (performance.now() - startedAt < ms);
}

it('passes on the value or the rejection of the work', async () => {
  expect(await answerWithin(LIMIT_MS, Promise.resolve(7))).toBe(7);
  await expect(answerWithin(LIMIT_MS, Promise.reject(new RangeError('no')))).rejects.toThrow(RangeError);
});

it('stops waiting when the time is over', async () => {
  const never = new Promise<never>(() => undefined);
  await expect(answerWithin(LIMIT_MS, never)).rejects.toMatchObject({ name: 'TimeoutError' });
});

it('accepts a value that arrived in time, and could only be read later', async () => {
  const answer = answerWithin(LIMIT_MS, access('/'));
  keepBusy(10 * LIMIT_MS);
  expect(await answer).toBeUndefined();
});
