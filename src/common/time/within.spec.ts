import { expect, it } from '@jest/globals';
import { within } from './within.js';

const late = (): Error => new Error('too late');
const unexpected = (): never => {
  throw new Error('there was time left');
};
const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

it('answers what the work does, and leaves no timer', async () => {
  const before = timers();
  expect(await within(60_000, Promise.resolve('done'), unexpected)).toBe('done');
  await expect(within(60_000, Promise.reject(new Error('failed')), unexpected)).rejects.toThrow('failed');
  expect(timers()).toBe(before);
});

it('fails as told when the time is over, whatever becomes of the work', async () => {
  let fail: (error: Error) => void = () => undefined;
  const work = new Promise<never>((_resolve, reject) => (fail = reject));
  await expect(within(10, work, late)).rejects.toThrow('too late');
  fail(new Error('nobody is left to tell'));
  await new Promise(setImmediate);
});
