import type { LookupAddress } from 'node:dns';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { HostLookups } from './host-lookups.js';
import { SlowLookupError } from './slow-lookup.error.js';

const PATIENCE_MS = 4_000;
const UNPROVEN_AT_ONCE = 4;
const FOUND: readonly LookupAddress[] = [{ address: '93.184.216.34', family: 4 }];

/** The look-ups of the system: those that were begun, and what ends them. */
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
  jest.useFakeTimers();
  system = new FakeSystem();
  lookups = new HostLookups(system.resolve);
  log = [];
});

afterEach(() => {
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

/** Begins look-ups. What becomes of each goes into the log. */
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

/** Of different names: as many as may run that are not proven. */
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
  it('are one while it runs, for all who ask', async () => {
    await look('api.test', 'api.test', 'API.test');
    expect(system.asked).toEqual(['api.test']);
    await system.answer('api.test');
    expect(log).toEqual(['api.test is 93.184.216.34', 'api.test is 93.184.216.34', 'API.test is 93.184.216.34']);
  });

  it('begin anew when it has ended: nothing is remembered of what was found', async () => {
    await look('api.test');
    await system.answer('api.test');
    await look('api.test');
    expect(system.asked).toEqual(['api.test', 'api.test']);
    await system.answer('api.test');
  });

  it('fail together, as the system says, and begin anew', async () => {
    await look('api.test', 'api.test');
    await system.fail('api.test', new Error('getaddrinfo ENOTFOUND api.test'));
    expect(log).toEqual(['getaddrinfo ENOTFOUND api.test', 'getaddrinfo ENOTFOUND api.test']);
    await look('api.test');
    expect(system.asked).toHaveLength(2);
    await system.answer('api.test');
  });

  it('are apart for a name with a trailing dot, which the system may find elsewhere', async () => {
    await look('api.test', 'api.test.');
    expect(system.asked).toEqual(['api.test', 'api.test.']);
    await system.answer('api.test');
    await system.answer('api.test.');
  });
});

describe('a look-up that takes too long', () => {
  it('refuses all who wait, and at once all who come while it runs', async () => {
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

  it('fails with an error of its own', async () => {
    const outcome = expect(lookups.find('slow.test')).rejects.toBeInstanceOf(SlowLookupError);
    await wait(PATIENCE_MS);
    await outcome;
  });

  it.each(['answers', 'fails'])('is followed by a new one when it %s at last', async (how) => {
    await look('slow.test');
    await wait(PATIENCE_MS);
    await (how === 'answers' ? system.answer('slow.test') : system.fail('slow.test', new Error('no servers')));
    await look('slow.test');
    expect(system.asked).toEqual(['slow.test', 'slow.test']);
    await system.answer('slow.test');
    expect(log).toEqual([tooLong('slow.test'), 'slow.test is 93.184.216.34']);
  });

  it('keeps no other name from being looked up', async () => {
    await look('slow.test', 'api.test');
    await system.answer('api.test');
    await wait(PATIENCE_MS);
    await look('api.test');
    await system.answer('api.test');
    expect(log).toEqual(['api.test is 93.184.216.34', tooLong('slow.test'), 'api.test is 93.184.216.34']);
  });
});

describe('many names that take long', () => {
  it('leave room for those whose last look-up was answered in time', async () => {
    await prove('api.test');
    const slow = await occupy();
    await look('api.test', 'new.test');
    expect(system.asked).toEqual(['api.test', ...slow, 'api.test']);
    await system.answer('api.test');
    expect(log).toEqual(['api.test is 93.184.216.34']);
    await wait(PATIENCE_MS);
  });

  it('let the others wait for their turn, in the order of coming', async () => {
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

  it('are told as what the others waited for in vain, who leave nothing behind', async () => {
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

  it('are no more at once after late ones have ended', async () => {
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
  ])('have no room from a name that %s', async (_what, end) => {
    await look('x.test');
    await end();
    await system.answer('x.test');
    const slow = await occupy();
    await look('x.test');
    expect(system.asked).toEqual(['x.test', ...slow]);
    await wait(PATIENCE_MS);
  });

  it('have room from a name again that was late, once it is answered in time', async () => {
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
