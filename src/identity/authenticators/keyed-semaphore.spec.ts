import { expect, it } from '@jest/globals';
import { KeyedSemaphore } from './keyed-semaphore.js';

const never = (): Promise<never> => new Promise(() => undefined);

it('KeyedSemaphore runs tasks in the order of arrival, up to its limit at a time', async () => {
  const limit = new KeyedSemaphore({ running: 1, waiting: 2, patienceMs: 10_000 });
  const asked: number[] = [];
  const questions = [1, 2, 3].map((number) =>
    limit.run('endpoint', () => {
      asked.push(number);
      return Promise.resolve(number);
    }),
  );
  expect(asked).toEqual([1]);
  expect(await Promise.all(questions)).toEqual([1, 2, 3]);
  expect(asked).toEqual([1, 2, 3]);
});

it('KeyedSemaphore continues after a task that failed', async () => {
  const limit = new KeyedSemaphore({ running: 1, waiting: 2, patienceMs: 10_000 });
  const failed = limit.run('endpoint', () => Promise.reject(new Error('down')));
  const next = limit.run('endpoint', () => Promise.resolve('asked'));
  await expect(failed).rejects.toThrow('down');
  expect(await next).toBe('asked');
});

it('KeyedSemaphore refuses a task that waits too long, and one that finds too many waiting', async () => {
  const limit = new KeyedSemaphore({ running: 1, waiting: 1, patienceMs: 20 });
  void limit.run('endpoint', never);
  let isAsked = false;
  const late = limit.run('endpoint', () => {
    isAsked = true;
    return never();
  });
  const unavailable = { code: 'identity_provider_unavailable', headers: { 'retry-after': '5' } };
  await expect(limit.run('endpoint', never)).rejects.toMatchObject(unavailable);
  await expect(late).rejects.toMatchObject(unavailable);
  expect(isAsked).toBe(false);
  expect(await limit.run('another', () => Promise.resolve('asked'))).toBe('asked');
});
