import { beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { LookupCache } from './lookup-cache.js';

interface Found {
  readonly name: string;
}

const ROOM = 100;
const KEPT_MS = 20;

/** Answers when a test calls `answer`. */
class SlowSource {
  private waiting: (() => void)[] = [];
  asked = 0;

  lookUp(name: string): Promise<Found> {
    this.asked += 1;
    return new Promise((resolve) => this.waiting.push(() => resolve({ name })));
  }

  answer(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}

function open(): { readonly source: SlowSource; readonly cache: LookupCache<Found, string> } {
  const source = new SlowSource();
  const lookUp = (name: string): Promise<Found> => source.lookUp(name);
  const ttlOf = ({ name }: Found): number => (name === 'short' ? KEPT_MS : 60_000);
  return { source, cache: new LookupCache<Found, string>({ maxEntries: ROOM, ttlOf, lookUp }) };
}

/** Looks up like callers that can wait. */
async function ask({ cache }: { readonly cache: LookupCache<Found, string> }, name: string): Promise<Found> {
  return cache.find(name, name);
}

async function opened(...names: string[]): Promise<ReturnType<typeof open>> {
  const both = open();
  const found = names.map((name) => ask(both, name));
  both.source.answer();
  await Promise.all(found);
  return both;
}

describe('LookupCache', () => {
  it('shares one look-up among concurrent callers', async () => {
    const { source, cache } = open();
    const answers = [ask({ cache }, 'a'), ask({ cache }, 'a')];
    source.answer();
    expect(await Promise.all(answers)).toEqual([{ name: 'a' }, { name: 'a' }]);
    expect(source.asked).toBe(1);
  });

  it('returns a cached value synchronously', async () => {
    const { source, cache } = await opened('a');
    expect(cache.find('a', 'a')).toEqual({ name: 'a' });
    expect(source.asked).toBe(1);
  });

  it('keeps each value for its own time to live', async () => {
    const { cache } = await opened('short', 'long');
    await sleep(KEPT_MS * 2);
    expect(cache.find('long', 'long')).toEqual({ name: 'long' });
    expect(cache.find('short', 'short')).toBeInstanceOf(Promise);
  });

  it('resolves all waiting callers, even if there are more keys than entries', async () => {
    const { source, cache } = open();
    const names = Array.from({ length: ROOM * 2 }, (_, index) => `name-${index}`);
    const answers = names.map((name) => ask({ cache }, name));
    source.answer();
    expect(await Promise.all(answers)).toEqual(names.map((name) => ({ name })));
  });

  it('resolves waiting callers when it is cleared, and does not cache their results', async () => {
    const { source, cache } = open();
    const first = ask({ cache }, 'a');
    cache.clear();
    const second = ask({ cache }, 'a');
    expect(source.asked).toBe(2);
    source.answer();
    expect(await Promise.all([first, second])).toEqual([{ name: 'a' }, { name: 'a' }]);
  });

  it('waits for a look-up that takes longer than the time to live', async () => {
    const { source, cache } = open();
    const slow = ask({ cache }, 'short');
    await sleep(KEPT_MS * 2);
    expect(cache.find('short', 'short')).toBeInstanceOf(Promise);
    expect(source.asked).toBe(1);
    source.answer();
    expect(await slow).toEqual({ name: 'short' });
  });

  it('does not cache a failure', async () => {
    let asked = 0;
    const lookUp = async (): Promise<Found> => {
      asked += 1;
      if (asked === 1) throw new Error('the database is away');
      return { name: 'a' };
    };
    const cache = new LookupCache<Found, string>({ maxEntries: ROOM, ttlOf: () => 60_000, lookUp });
    await expect(ask({ cache }, 'a')).rejects.toThrow('the database is away');
    expect(await ask({ cache }, 'a')).toEqual({ name: 'a' });
  });

  it('forgets only the matching values', async () => {
    const { cache } = await opened('a', 'b');
    cache.forget(({ name }) => name === 'a');
    expect(cache.find('a', 'a')).toBeInstanceOf(Promise);
    expect(cache.find('b', 'b')).toEqual({ name: 'b' });
  });
});

describe('LookupCache with a fallback', () => {
  const AWAY = new Error('away');
  const KEPT = 300;
  let answer: () => Promise<Found>;
  let cache: LookupCache<Found, string>;
  const find = async (): Promise<Found> => cache.find('a', 'a');
  const expire = (): Promise<unknown> => sleep(KEPT_MS + 5);

  beforeEach(async () => {
    cache = new LookupCache<Found, string>({
      maxEntries: ROOM,
      ttlOf: () => KEPT_MS,
      lookUp: () => answer(),
      fallback: { keptMs: KEPT, isAway: (error) => error === AWAY },
    });
    answer = async () => ({ name: 'first' });
    await find();
    answer = async () => {
      throw AWAY;
    };
  });

  it('returns what was found last while the source is away, and what is true once it is back', async () => {
    await expire();
    expect(await find()).toEqual({ name: 'first' });
    answer = async () => ({ name: 'second' });
    await sleep(1_050);
    expect(await find()).toEqual({ name: 'second' });
  });

  it('asks a source that is away once a second for each key, and lets callers wait 0.4 s for one that is silent', async () => {
    let asked = 0;
    answer = () => {
      asked += 1;
      return new Promise(() => undefined);
    };
    await expire();
    const startedAt = performance.now();
    expect(await Promise.all([find(), find()])).toEqual([{ name: 'first' }, { name: 'first' }]);
    expect(await find()).toEqual({ name: 'first' });
    expect(performance.now() - startedAt).toBeLessThan(900);
    expect(asked).toBe(1);
  });

  it('fails when the last value is too old, when the failure is another one, and after the cache was cleared', async () => {
    await sleep(KEPT + 20);
    await expect(find()).rejects.toBe(AWAY);

    answer = async () => ({ name: 'third' });
    await find();
    await expire();
    const defect = new Error('a defect');
    answer = () => Promise.reject(defect);
    await expect(find()).rejects.toBe(defect);

    answer = () => Promise.reject(AWAY);
    cache.clear();
    await expect(find()).rejects.toBe(AWAY);
  });

  it('forgets a value that was changed here also as what was found last', async () => {
    cache.forget(({ name }) => name === 'first');
    await expect(find()).rejects.toBe(AWAY);
  });
});
