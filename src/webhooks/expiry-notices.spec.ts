import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Clock } from '../common/time/clock.js';
import { ExpiryNotices } from './expiry-notices.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

it('looks every minute, so that a key that lives for some minutes is reported', async () => {
  const query = jest.fn(() => Promise.resolve([]));
  const notices = new ExpiryNotices({ query }, new Clock(), { warn: () => undefined });
  notices.onApplicationBootstrap();
  await jest.advanceTimersByTimeAsync(1_000);
  const atStart = query.mock.calls.length;
  expect(atStart).toBeGreaterThan(0);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(query.mock.calls.length).toBe(2 * atStart);
  await notices.beforeApplicationShutdown();
});
