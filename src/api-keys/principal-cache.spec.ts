import { expect, it } from '@jest/globals';
import { generateApiKey } from './api-key-format.js';
import type { ApiKeyStore } from './api-key.store.js';
import { PrincipalCache } from './principal-cache.js';

type Found = Awaited<ReturnType<ApiKeyStore['find']>>;

/** A database that answers when it is told to. */
class SlowStore {
  readonly waiting: ((found: Found) => void)[] = [];

  find(): Promise<Found> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  answer(): void {
    for (const resolve of this.waiting.splice(0)) resolve({ refusal: 'unknown' });
  }
}

it('answers all who wait, also more than it has room for', async () => {
  const store = new SlowStore();
  const cache = new PrincipalCache(store);
  const answers = Array.from({ length: 10_050 }, () => cache.find(generateApiKey(), 0));
  store.answer();
  expect(new Set((await Promise.all(answers)).map((answer) => JSON.stringify(answer)))).toEqual(
    new Set(['{"refusal":"unknown"}']),
  );
});

it('answers who waits while it is cleared, and remembers nothing of that', async () => {
  const store = new SlowStore();
  const cache = new PrincipalCache(store);
  const key = generateApiKey();
  const first = cache.find(key, 0);
  cache.clear();
  const second = cache.find(key, 0);
  expect(store.waiting).toHaveLength(2);
  store.answer();
  expect(await Promise.all([first, second])).toEqual([{ refusal: 'unknown' }, { refusal: 'unknown' }]);
});
