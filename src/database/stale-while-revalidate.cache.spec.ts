import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { MaybePromise } from '../common/maybe-promise.js';
import { StaleWhileRevalidateCache } from './stale-while-revalidate.cache.js';

interface Value {
  readonly name: string;
}

const OLD: Value = { name: 'old' };
const NEW: Value = { name: 'new' };

let answerAfterMs: number;
let answer: Value | Error;
let known: StaleWhileRevalidateCache<Value>;

beforeEach(async () => {
  jest.useFakeTimers({ now: 0 });
  [answerAfterMs, answer] = [0, OLD];
  known = new StaleWhileRevalidateCache<Value>(async () => {
    const [answered, delayMs] = [answer, answerAfterMs];
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    if (answered instanceof Error) throw answered;
    return answered;
  });
  await get();
  answer = NEW;
});

afterEach(() => {
  jest.useRealTimers();
});

function get(): MaybePromise<Value> {
  return known.get('org-1', Date.now());
}

/** The value that a request gets now, and after how long. */
async function got(): Promise<readonly [string, number]> {
  const askedAt = Date.now();
  const waiting = Promise.resolve(get()).then(({ name }) => [name, Date.now() - askedAt] as const);
  await jest.advanceTimersByTimeAsync(10_000);
  return waiting;
}

describe('LastKnown, with a database that is slow', () => {
  it.each([
    { ageMs: 4_999, answersAfterMs: 100, gets: ['old', 0] },
    { ageMs: 5_000, answersAfterMs: 399, gets: ['new', 399] },
    { ageMs: 9_999, answersAfterMs: 401, gets: ['old', 400] },
    { ageMs: 10_000, answersAfterMs: 401, gets: ['new', 401] },
    { ageMs: 60_000, answersAfterMs: 1_999, gets: ['new', 1_999] },
    { ageMs: 60_000, answersAfterMs: 2_001, gets: ['old', 2_000] },
  ])(
    'gets $gets when the database takes $answersAfterMs ms and the value is $ageMs ms old',
    async ({ ageMs, answersAfterMs, gets }) => {
      jest.setSystemTime(ageMs);
      answerAfterMs = answersAfterMs;
      expect(await got()).toEqual(gets);
    },
  );

  it('waits for a change on this replica, however new the known value is', async () => {
    known.forget('org-1');
    answerAfterMs = 1_500;
    expect(await got()).toEqual(['new', 1_500]);
  });

  it('waits no longer than until the database fails', async () => {
    jest.setSystemTime(60_000);
    [answerAfterMs, answer] = [700, new Error('away')];
    expect(await got()).toEqual(['old', 700]);
  });
});
