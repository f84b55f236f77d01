import { hash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Principal } from '../access/principal.js';
import { publicIdOf } from './api-key-format.js';
import { ApiKeyStore, type KeyRefusal } from './api-key.store.js';

/** A revoked key must stop working on every replica within 10 s; half of it leaves room for slow look-ups. */
const CACHE_MS = 5_000;
/** Short: a key that was just created on another replica may have been tried too early. */
const REFUSAL_CACHE_MS = 1_000;
const MAX_ENTRIES = 10_000;

export type KeyAnswer =
  { readonly principal: Principal; readonly validUntil: number } | { readonly refusal: KeyRefusal };

/** Callers by key, so that a warm request needs no database. One look-up serves all requests that wait for the same key. */
@Injectable()
export class PrincipalCache {
  private readonly answers: LRUCache<string, KeyAnswer, string>;

  constructor(@Inject(ApiKeyStore) private readonly store: Pick<ApiKeyStore, 'find'>) {
    this.answers = this.openCache();
  }

  /** The caller behind a key, or why there is none. `now` in milliseconds. */
  async find(key: string, now: number): Promise<KeyAnswer> {
    // The cache is keyed by a digest: a heap dump shows no keys.
    const digest = hash('sha256', key, 'base64');
    const answer = this.answers.get(digest) ?? (await this.lookUp(digest, key));
    if (answer === undefined) return { refusal: 'unknown' };
    return 'principal' in answer && now >= answer.validUntil ? { refusal: 'expired' } : answer;
  }

  /** After a change on this replica: it should be felt at once here, and within the cache's time elsewhere. */
  clear(): void {
    this.answers.clear();
  }

  /** What is no key takes no place in the cache. */
  private async lookUp(digest: string, key: string): Promise<KeyAnswer | undefined> {
    return publicIdOf(key) === undefined ? { refusal: 'malformed' } : this.answers.fetch(digest, { context: key });
  }

  private openCache(): LRUCache<string, KeyAnswer, string> {
    return new LRUCache<string, KeyAnswer, string>({
      max: MAX_ENTRIES,
      ttl: CACHE_MS,
      // A look-up whose place goes to others, or that is under way at a change, still ends with what it finds; nobody
      // else is told that.
      ignoreFetchAbort: true,
      fetchMethod: async (_digest, _stale, { context: key, options }) => {
        const answer = await this.store.find(key);
        if ('refusal' in answer) options.ttl = REFUSAL_CACHE_MS;
        return answer;
      },
    });
  }
}
