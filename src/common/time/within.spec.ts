import { expect, it } from '@jest/globals';
import { within } from './within.js';

const late = (): Error => new Error('too late');
const unexpected = (): never => {
  throw new Error('there was time left');
};
const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

it('within returns the result of the work and leaves no timer', async () => {
  const before = timers();
  expect(await within(60_000, Promise.resolve('done'), unexpected)).toBe('done');
  await expect(within(60_000, Promise.reject(new Error('failed')), unexpected)).rejects.toThrow('failed');
  expect(timers()).toBe(before);
});

it('within rejects with the given error when the time is over, whatever happens to the work', async () => {
  let fail: (error: Error) => void = () => undefined;
  const work = new Promise<never>((_resolve, reject) => (fail = reject));
  await expect(within(10, work, late)).rejects.toThrow('too late');
  fail(new Error('a late failure'));
  await new Promise(setImmediate);
});
