import { once } from 'node:events';
import { access } from 'node:fs/promises';
import { expect, it } from '@jest/globals';
import { collectGarbage } from '../../../test/support/collect-garbage.js';
import { settledWithin, withDeadline, withTimeout } from './timeout.js';

const LONG_MS = 60_000;
const SHORT_MS = 20;

async function untilAborted(signal: AbortSignal): Promise<unknown> {
  if (!signal.aborted) await once(signal, 'abort');
  return signal.reason;
}

const untilWithin = (signal: AbortSignal): Promise<unknown> => withDeadline(LONG_MS, [signal], untilAborted);

const never = (): Promise<never> => new Promise(() => undefined);
const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

function keepBusy(ms: number): void {
  const startedAt = performance.now();
  while (performance.now() - startedAt < ms);
}

it('withTimeout passes on the result or the error of the work and leaves no timer', async () => {
  const before = timers();
  expect(await withTimeout(LONG_MS, Promise.resolve(7))).toBe(7);
  await expect(withTimeout(LONG_MS, Promise.reject(new RangeError('no')))).rejects.toThrow(RangeError);
  expect(timers()).toBe(before);
});

it('withTimeout rejects with a TimeoutError when the time is over, or with the given error', async () => {
  await expect(withTimeout(SHORT_MS, never())).rejects.toMatchObject({ name: 'TimeoutError' });
  await expect(withTimeout(SHORT_MS, never(), () => new Error('too late'))).rejects.toThrow('too late');
});

it('withTimeout ignores a failure of the work after the time is over', async () => {
  let fail: (error: Error) => void = () => undefined;
  const work = new Promise<never>((_resolve, reject) => (fail = reject));
  await expect(withTimeout(SHORT_MS, work)).rejects.toMatchObject({ name: 'TimeoutError' });
  fail(new Error('a late failure'));
  await new Promise(setImmediate);
});

it('withTimeout accepts a result that arrived in time but could only be read later', async () => {
  const answer = withTimeout(SHORT_MS, access('/'));
  keepBusy(10 * SHORT_MS);
  expect(await answer).toBeUndefined();
});

it('settledWithin returns whether the work succeeded or failed in time', async () => {
  const before = timers();
  expect(await settledWithin(LONG_MS, Promise.resolve())).toBe(true);
  expect(await settledWithin(LONG_MS, Promise.reject(new Error('failed')))).toBe(true);
  expect(await settledWithin(SHORT_MS, never())).toBe(false);
  expect(timers()).toBe(before);
});

it('withDeadline aborts work at its deadline, also nested work with a later deadline', async () => {
  const collecting = setInterval(collectGarbage, 10);
  try {
    expect(await withDeadline(50, [], untilAborted)).toMatchObject({ name: 'TimeoutError' });
    expect(await withDeadline(50, [], untilWithin)).toMatchObject({ name: 'TimeoutError' });
    expect(await withDeadline(LONG_MS, [], (signal) => withDeadline(50, [signal], untilAborted))).toMatchObject({
      name: 'TimeoutError',
    });
  } finally {
    clearInterval(collecting);
  }
});

it('withDeadline aborts work with the first of the other signals, and with its reason', async () => {
  const [never, overflow] = [new AbortController(), new AbortController()];
  const ended = withDeadline(LONG_MS, [never.signal, overflow.signal], untilAborted);
  overflow.abort('too much');
  expect(await ended).toBe('too much');
  expect(await withDeadline(LONG_MS, [never.signal, overflow.signal], untilAborted)).toBe('too much');
});

it('withDeadline returns the result of the work and aborts what is left of it', async () => {
  let left: AbortSignal | undefined;
  const other = new AbortController();
  const work = (signal: AbortSignal): Promise<string> => {
    left = signal;
    return Promise.resolve('done');
  };
  expect(await withDeadline(LONG_MS, [other.signal], work)).toBe('done');
  expect(left?.aborted).toBe(true);
  await expect(withDeadline(LONG_MS, [], () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
});
