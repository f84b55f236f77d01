import { hash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type MaybePromise, chain } from '../common/maybe-promise.js';
import { LookupCache } from '../common/cache/lookup-cache.js';
import { AppConfig } from '../config/environment.js';
import { outageFallback } from '../database/outage-fallback.js';
import { publicIdOf } from './api-key-format.js';
import { ApiKeyStore, type KeyAnswer } from './api-key.store.js';

/** A revoked key must stop working on every replica within 10 s; half of it leaves room for slow look-ups. */
const CACHE_MS = 5_000;
/** Short: a key that was just created on another replica may have been tried too early. */
const REFUSAL_CACHE_MS = 1_000;
const MAX_ENTRIES = 10_000;

/** Callers by key, so that a warm request needs no database. One look-up serves all requests that wait for the same key. */
@Injectable()
export class PrincipalCache {
  private readonly answers: LookupCache<KeyAnswer, string>;
  /** By the public ids of secrets. */
  private readonly owners: LookupCache<KeyAnswer, string>;

  constructor(@Inject(ApiKeyStore) store: Pick<ApiKeyStore, 'find' | 'ownerOf'>, config: AppConfig) {
    const options = {
      maxEntries: MAX_ENTRIES,
      ttlOf: (answer: KeyAnswer) => ('refusal' in answer ? REFUSAL_CACHE_MS : CACHE_MS),
      fallback: outageFallback(config),
    };
    this.answers = new LookupCache({ ...options, lookUp: (key) => store.find(key) });
    this.owners = new LookupCache({ ...options, lookUp: (publicId) => store.ownerOf(publicId) });
  }

  /** The caller behind a key, or why there is none. `now` in milliseconds. */
  find(key: string, now: number): MaybePromise<KeyAnswer> {
    // The cache is keyed by a digest: a heap dump shows no keys.
    const digest = hash('sha256', key, 'base64');
    return chain(this.answers.get(digest) ?? this.lookUp(digest, key), (answer) => asOf(answer, now));
  }

  /** The caller behind a key that was seen before, by the public id of its secret. `now` in milliseconds. */
  findOwner(publicId: string, now: number): MaybePromise<KeyAnswer> {
    return chain(this.owners.find(publicId, publicId), (answer) => asOf(answer, now));
  }

  /** After a change on this replica: it should be felt at once here, and within the cache's time elsewhere. */
  clear(): void {
    this.answers.clear();
    this.owners.clear();
  }

  /** Strings that are not keys are not cached. */
  private lookUp(digest: string, key: string): MaybePromise<KeyAnswer> {
    return publicIdOf(key) === undefined ? { refusal: 'malformed' } : this.answers.find(digest, key);
  }
}

function asOf(answer: KeyAnswer, now: number): KeyAnswer {
  return 'principal' in answer && now >= answer.validUntil ? { refusal: 'expired' } : answer;
}
