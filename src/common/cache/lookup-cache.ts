import { LRUCache } from 'lru-cache';
import type { MaybePromise } from '../maybe-promise.js';

export interface LookupCacheOptions<Value, Context> {
  readonly maxEntries: number;
  /** Milliseconds that a found value is kept. */
  ttlOf(value: Value): number;
  lookUp(context: Context): Promise<Value>;
}

interface Question<Context> {
  readonly of: Context;
}

/**
 * Caches the results of look-ups for a few seconds. Concurrent callers with the same key share one look-up. Failures
 * are not cached. Expired values are removed from memory even if they are never requested again.
 */
export class LookupCache<Value extends object, Context> {
  private readonly entries: LRUCache<string, Value, Question<Context>>;

  constructor(source: LookupCacheOptions<Value, Context>) {
    this.entries = new LRUCache<string, Value, Question<Context>>({
      max: source.maxEntries,
      // No expiry while the look-up runs, or a slow look-up would be purged before it ends.
      ttl: 0,
      ttlAutopurge: true,
      // Reading the clock costs less than the timer that would save it.
      ttlResolution: 0,
      // A look-up that is evicted or cleared still resolves for the callers that wait for it. Its result is not cached.
      ignoreFetchAbort: true,
      fetchMethod: async (_key, _stale, { context, options }) => {
        const value = await source.lookUp(context.of);
        options.ttl = source.ttlOf(value);
        return value;
      },
    });
  }

  /** The cached value. Starts no look-up. */
  get(key: string): Value | undefined {
    return this.entries.get(key);
  }

  /** `context` is passed to the look-up. */
  find(key: string, context: Context): MaybePromise<Value> {
    return this.get(key) ?? this.entries.forceFetch(key, { context: { of: context } });
  }

  /** Removes every cached value that matches. */
  forget(isMeant: (value: Value) => boolean): void {
    for (const [key, value] of this.entries.entries()) if (isMeant(value)) this.entries.delete(key);
  }

  clear(): void {
    this.entries.clear();
  }
}
