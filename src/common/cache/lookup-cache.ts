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
 * Keeps what look-ups find for a few seconds. All who ask for the same key meanwhile share one look-up, and what fails is
 * not kept. Values leave the memory when their time is over, whether anybody asks again or not.
 */
export class LookupCache<Value extends object, Context> {
  private readonly entries: LRUCache<string, Value, Question<Context>>;

  constructor(source: LookupCacheOptions<Value, Context>) {
    this.entries = new LRUCache<string, Value, Question<Context>>({
      max: source.maxEntries,
      // While it is looked up: without a time, an entry is not purged, and a look-up that takes long is not given up.
      ttl: 0,
      ttlAutopurge: true,
      // To look at the clock costs less than the timer that saves it.
      ttlResolution: 0,
      // A look-up whose place goes to others, or that is under way at a change, still ends with what it finds; nobody
      // else is told that.
      ignoreFetchAbort: true,
      fetchMethod: async (_key, _stale, { context, options }) => {
        const value = await source.lookUp(context.of);
        options.ttl = source.ttlOf(value);
        return value;
      },
    });
  }

  /** What is known; nothing is looked up. */
  get(key: string): Value | undefined {
    return this.entries.get(key);
  }

  /** `context` is what a look-up needs to know. */
  find(key: string, context: Context): MaybePromise<Value> {
    return this.get(key) ?? this.entries.forceFetch(key, { context: { of: context } });
  }

  /** Of those that are known, each that `isMeant`. */
  forget(isMeant: (value: Value) => boolean): void {
    for (const [key, value] of this.entries.entries()) if (isMeant(value)) this.entries.delete(key);
  }

  clear(): void {
    this.entries.clear();
  }
}
