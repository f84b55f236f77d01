import type { LookupAddress } from 'node:dns';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { HostLookups } from './host-lookups.js';
import { SlowLookupError } from './slow-lookup.error.js';

const PATIENCE_MS = 4_000;
const UNPROVEN_AT_ONCE = 4;
const FOUND: readonly LookupAddress[] = [{ address: '93.184.216.34', family: 4 }];

/** The look-ups of the system: those that have begun, and functions that end them. */
class FakeSystem {
  readonly asked: string[] = [];
  readonly #running = new Map<string, { found: () => void; failed: (error: Error) => void }>();

  readonly resolve = (hostname: string): Promise<readonly LookupAddress[]> => {
    this.asked.push(hostname);
    return new Promise((found, failed) => this.#running.set(hostname, { found: () => found(FOUND), failed }));
  };

  async answer(hostname: string): Promise<void> {
    this.#running.get(hostname)?.found();
    await jest.advanceTimersByTimeAsync(0);
  }

  async fail(hostname: string, error: Error): Promise<void> {
    this.#running.get(hostname)?.failed(error);
    await jest.advanceTimersByTimeAsync(0);
  }
}

let system: FakeSystem;
let lookups: HostLookups;
let log: string[];

beforeEach(() => {
  // A fake immediate would come a millisecond late.
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'clearImmediate'] });
  system = new FakeSystem();
  lookups = new HostLookups(system.resolve);
  log = [];
});

afterEach(() => {
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

/** Begins look-ups. The result of each goes into the log. */
async function look(...hostnames: string[]): Promise<void> {
  for (const hostname of hostnames) {
    lookups.find(hostname).then(
      (addresses) => log.push(`${hostname} is ${addresses.map(({ address }) => address).join()}`),
      (error: unknown) => log.push(error instanceof Error ? error.message : 'no error'),
    );
  }
  await jest.advanceTimersByTimeAsync(0);
}

const wait = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);
const tooLong = (hostname: string): string => `the name look-up of ${hostname} takes too long`;
const inVain = (hostname: string): string =>
  `the name look-up of ${hostname} waited in vain for others that take too long`;

/** Look-ups of different names: as many as may run of names that are not proven. */
async function occupy(): Promise<readonly string[]> {
  const names = Array.from({ length: UNPROVEN_AT_ONCE }, (_, each) => `slow-${each}.test`);
  await look(...names);
  return names;
}

async function prove(hostname: string): Promise<void> {
  await look(hostname);
  await system.answer(hostname);
  expect(log.pop()).toBe(`${hostname} is 93.184.216.34`);
}

describe('the look-ups of one name', () => {
  it('shares one look-up between all callers while it runs', async () => {
    await look('api.test', 'api.test', 'API.test');
    expect(system.asked).toEqual(['api.test']);
    await system.answer('api.test');
    expect(log).toEqual(['api.test is 93.184.216.34', 'api.test is 93.184.216.34', 'API.test is 93.184.216.34']);
  });

  it('looks a name up again after the look-up has ended: no result is kept', async () => {
    await look('api.test');
    await system.answer('api.test');
    await look('api.test');
    expect(system.asked).toEqual(['api.test', 'api.test']);
    await system.answer('api.test');
  });

  it("fails all callers of a look-up with the system's error, and then looks up again", async () => {
    await look('api.test', 'api.test');
    await system.fail('api.test', new Error('getaddrinfo ENOTFOUND api.test'));
    expect(log).toEqual(['getaddrinfo ENOTFOUND api.test', 'getaddrinfo ENOTFOUND api.test']);
    await look('api.test');
    expect(system.asked).toHaveLength(2);
    await system.answer('api.test');
  });

  it('looks up a name with a trailing dot separately, which the system may find elsewhere', async () => {
    await look('api.test', 'api.test.');
    expect(system.asked).toEqual(['api.test', 'api.test.']);
    await system.answer('api.test');
    await system.answer('api.test.');
  });
});

describe('a look-up that takes too long', () => {
  it('refuses all waiting callers of a slow look-up, and new ones at once while it runs', async () => {
    await look('slow.test', 'slow.test');
    await wait(PATIENCE_MS - 1);
    await look('slow.test');
    expect(log).toEqual([]);
    await wait(1);
    expect(log).toEqual([tooLong('slow.test'), tooLong('slow.test'), tooLong('slow.test')]);
    await wait(60_000);
    await look('slow.test');
    expect(log).toHaveLength(4);
    expect(system.asked).toEqual(['slow.test']);
  });

  it('reports a slow look-up with an error of its own', async () => {
    const outcome = expect(lookups.find('slow.test')).rejects.toBeInstanceOf(SlowLookupError);
    await wait(PATIENCE_MS);
    await outcome;
  });

  it.each(['answers', 'fails'])('looks a name up again when its slow look-up finally %s', async (how) => {
    await look('slow.test');
    await wait(PATIENCE_MS);
    await (how === 'answers' ? system.answer('slow.test') : system.fail('slow.test', new Error('no servers')));
    await look('slow.test');
    expect(system.asked).toEqual(['slow.test', 'slow.test']);
    await system.answer('slow.test');
    expect(log).toEqual([tooLong('slow.test'), 'slow.test is 93.184.216.34']);
  });

  it('does not block other names while a look-up is slow', async () => {
    await look('slow.test', 'api.test');
    await system.answer('api.test');
    await wait(PATIENCE_MS);
    await look('api.test');
    await system.answer('api.test');
    expect(log).toEqual(['api.test is 93.184.216.34', tooLong('slow.test'), 'api.test is 93.184.216.34']);
  });
});

describe('many names that take long', () => {
  it('leaves room for names whose last look-up was quick', async () => {
    await prove('api.test');
    const slow = await occupy();
    await look('api.test', 'new.test');
    expect(system.asked).toEqual(['api.test', ...slow, 'api.test']);
    await system.answer('api.test');
    expect(log).toEqual(['api.test is 93.184.216.34']);
    await wait(PATIENCE_MS);
  });

  it('starts waiting look-ups in the order in which they came', async () => {
    const slow = await occupy();
    await look('one.test', 'two.test', 'one.test');
    await system.answer('slow-0.test');
    expect(system.asked).toEqual([...slow, 'one.test']);
    await system.fail('one.test', new Error('no servers'));
    expect(system.asked).toEqual([...slow, 'one.test', 'two.test']);
    await system.answer('two.test');
    await wait(PATIENCE_MS);
    expect(log.slice(0, 4)).toEqual([
      'slow-0.test is 93.184.216.34',
      'no servers',
      'no servers',
      'two.test is 93.184.216.34',
    ]);
  });

  it('names slow look-ups as the reason for others that waited in vain, which leave nothing behind', async () => {
    const slow = await occupy();
    await look('new.test', 'new.test');
    await wait(PATIENCE_MS);
    expect(log).toEqual([...slow.map(tooLong), inVain('new.test'), inVain('new.test')]);
    for (const name of slow) await system.answer(name);
    expect(system.asked).toEqual(slow);
    await look('new.test');
    await system.answer('new.test');
    expect(log.at(-1)).toBe('new.test is 93.184.216.34');
  });

  it('runs no more look-ups at once after late ones have ended', async () => {
    for (const name of await occupy()) {
      await wait(PATIENCE_MS);
      await system.answer(name);
    }
    system.asked.splice(0);
    const slow = await occupy();
    await look('new.test');
    expect(system.asked).toEqual(slow);
    await wait(PATIENCE_MS);
  });

  it.each([
    ['was late the last time', async () => wait(PATIENCE_MS)],
    ['was not found the first time', async () => system.fail('x.test', new Error('ENOTFOUND'))],
  ])('gives no reserved room to a name that %s', async (_what, end) => {
    await look('x.test');
    await end();
    await system.answer('x.test');
    const slow = await occupy();
    await look('x.test');
    expect(system.asked).toEqual(['x.test', ...slow]);
    await wait(PATIENCE_MS);
  });

  it('gives reserved room to a late name again, once its look-up is quick', async () => {
    await prove('x.test');
    await look('x.test');
    await wait(PATIENCE_MS);
    await system.answer('x.test');
    await prove('x.test');
    await occupy();
    await look('x.test');
    expect(system.asked.at(-1)).toBe('x.test');
    await wait(PATIENCE_MS);
  });
});
