import { LRUCache } from 'lru-cache';
import type { MaybePromise } from '../maybe-promise.js';
import { withTimeout } from '../time/timeout.js';

export interface LookupCacheOptions<Value, Context> {
  readonly maxEntries: number;
  /** Milliseconds that a found value is kept. */
  ttlOf(value: Value): number;
  lookUp(context: Context): Promise<Value>;
  readonly fallback?: LookupFallback | undefined;
}

/** Lets what was found last stand in for a look-up that fails, or that takes too long, because the source is away. */
export interface LookupFallback {
  /** How long after it was found a value may stand in, in milliseconds. */
  readonly keptMs: number;
  /** Whether a failure means that the source is away. */
  isAway(error: unknown): boolean;
}

/** A caller waits no longer for a source that does not answer. */
const PATIENCE_MS = 400;
/** How long a value that stands in is used before the source is asked again. */
const STAND_IN_MS = 1_000;
const LATE = new Error('the look-up takes too long');

interface Question<Context> {
  readonly of: Context;
}

/**
 * Caches the results of look-ups for a few seconds. Concurrent callers with the same key share one look-up. Failures
 * are not cached. Expired values are removed from memory even if they are never requested again.
 */
export class LookupCache<Value extends object, Context> {
  private readonly entries: LRUCache<string, Value, Question<Context>>;
  /** What was found last, where that may stand in. */
  private readonly known: LRUCache<string, Value> | undefined;

  constructor(private readonly source: LookupCacheOptions<Value, Context>) {
    const { fallback, maxEntries: max } = source;
    if (fallback !== undefined) this.known = new LRUCache({ max, ttl: fallback.keptMs, ttlAutopurge: true });
    this.entries = new LRUCache<string, Value, Question<Context>>({
      max: source.maxEntries,
      // No expiry while the look-up runs, or a slow look-up would be purged before it ends.
      ttl: 0,
      ttlAutopurge: true,
      // Reading the clock costs less than the timer that would save it.
      ttlResolution: 0,
      // A look-up that is evicted or cleared still resolves for the callers that wait for it. Its result is not cached.
      ignoreFetchAbort: true,
      fetchMethod: async (key, _stale, { context, options, signal }) => {
        const value = await source.lookUp(context.of);
        options.ttl = source.ttlOf(value);
        // Not when it was cleared meanwhile.
        if (!signal.aborted) this.known?.set(key, value);
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
    const value = this.get(key);
    if (value !== undefined) return value;
    const lookup = this.entries.forceFetch(key, { context: { of: context } });
    const known = this.known?.get(key);
    return known === undefined ? lookup : this.foundOrKnown(key, lookup, known);
  }

  /** Removes every cached value that matches. */
  forget(isMeant: (value: Value) => boolean): void {
    for (const cache of [this.entries, this.known])
      for (const [key, value] of cache?.entries() ?? []) if (isMeant(value)) cache?.delete(key);
  }

  clear(): void {
    this.entries.clear();
    this.known?.clear();
  }

  private async foundOrKnown(key: string, lookup: Promise<Value>, known: Value): Promise<Value> {
    const value = await withTimeout(PATIENCE_MS, lookup, () => LATE).catch((error: unknown) => {
      if (error === LATE || this.source.fallback?.isAway(error) === true) return undefined;
      throw error;
    });
    if (value !== undefined) return value;
    this.entries.set(key, known, { ttl: STAND_IN_MS });
    return known;
  }
}
