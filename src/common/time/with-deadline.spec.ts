import { once } from 'node:events';
import { expect, it } from '@jest/globals';
import { collectGarbage } from '../../../test/support/collect-garbage.js';
import { withDeadline } from './with-deadline.js';

const LONG_MS = 60_000;

async function untilAborted(signal: AbortSignal): Promise<unknown> {
  if (!signal.aborted) await once(signal, 'abort');
  return signal.reason;
}

const untilWithin = (signal: AbortSignal): Promise<unknown> => withDeadline(LONG_MS, [signal], untilAborted);

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
