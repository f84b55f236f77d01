import { LRUCache } from 'lru-cache';
import type { Clock } from '../common/time/clock.js';
import type { Metrics } from '../telemetry/metrics.js';
import { afterFailure, afterSuccess, type CachedSecret, decide, type SecretLifetime } from './cached-secret.js';
import { type SecretDocument, SecretError } from './managers/secret-manager.types.js';
import type { SecretFetcher } from './secret-fetcher.js';
import type { SecretReferenceStatus } from './secret-reference.status.js';
import type { SecretReference } from './secret-reference.entity.js';

const MAX_ENTRIES = 10_000;
const MAX_BYTES = 64 * 1024 * 1024;
/** What an entry takes besides its document. */
const ENTRY_BYTES = 512;
/** A reference is re-read at most this often because a provider refused its value. */
const REFRESH_EVERY_MS = 10_000;

export interface SecretResolverServices {
  readonly fetcher: Pick<SecretFetcher, 'fetch'>;
  readonly status: Pick<SecretReferenceStatus, 'note'>;
  readonly metrics: Pick<Metrics, 'secretStaleServed'>;
  readonly clock: Clock;
  readonly lifetime: SecretLifetime;
  /** 0 up to 1. */
  readonly random: () => number;
}

/**
 * Secrets by reference, in memory only. The whole secret is kept, so that several keys of it share one fetch, and however
 * many callers wait for it, it is fetched once.
 */
export class SecretResolver {
  readonly #cached: LRUCache<string, CachedSecret>;
  readonly #running = new Map<string, Promise<SecretDocument>>();
  readonly #refreshed = new LRUCache<string, { readonly at: number; readonly done: Promise<void> }>({
    max: MAX_ENTRIES,
  });
  /** Number of the last fetch that began before a reference was forgotten: what it brings is not kept. */
  readonly #forgotten = new LRUCache<string, number>({ max: MAX_ENTRIES });
  readonly #listeners: (() => void)[] = [];
  #fetches = 0;

  constructor(private readonly services: SecretResolverServices) {
    const { cacheMs, staleMs } = services.lifetime;
    this.#cached = new LRUCache<string, CachedSecret>({
      max: MAX_ENTRIES,
      maxSize: MAX_BYTES,
      sizeCalculation: ({ document }) => ENTRY_BYTES + (document === undefined ? 0 : bytesOf(document)),
      // Secrets that are not used any more are not kept in memory either. 2: more than the jitter adds.
      ttl: 2 * cacheMs + staleMs + REFRESH_EVERY_MS,
      ttlAutopurge: true,
    });
  }

  /** @throws SecretError */
  async resolve(reference: SecretReference): Promise<SecretDocument> {
    const decision = decide(this.#entryOf(reference), this.#now());
    if (decision.kind === 'fail') throw decision.failure;
    if (decision.kind === 'use') {
      if (decision.renew) this.#fetchOnce(reference).catch(() => undefined);
      if (decision.stale) this.services.metrics.secretStaleServed.inc({ manager: reference.managerType });
      return decision.document;
    }
    return this.#fetchOnce(reference).catch((error: unknown) => this.#instead(reference, error));
  }

  /**
   * The same after a provider has refused the value: it is re-read, unless that was done moments ago.
   * @throws SecretError
   */
  async refresh(reference: SecretReference): Promise<SecretDocument> {
    const { id } = reference;
    const now = this.#now();
    const entry = this.#entryOf(reference);
    const isFailing = entry?.failure !== undefined && now < entry.retryAt;
    let last = this.#refreshed.get(id);
    if (!isFailing && (last === undefined || now - last.at >= REFRESH_EVERY_MS)) {
      last = { at: now, done: this.#fetch(reference).then(nothing, nothing) };
      this.#refreshed.set(id, last);
    }
    await last?.done;
    return this.resolve(reference);
  }

  /**
   * Fetches at once, whatever is known. What comes serves everybody.
   * @throws SecretError
   */
  async fetch(reference: SecretReference): Promise<SecretDocument> {
    return this.#fetch(reference);
  }

  /** After a change of the reference on this replica, or its end. Other replicas see its new revision. */
  forget(id: string): void {
    this.#cached.delete(id);
    this.#refreshed.delete(id);
    this.#forgotten.set(id, this.#fetches);
    for (const listener of this.#listeners) listener();
  }

  /** Calls back for every reference that is forgotten, so that other caches can drop its values. */
  onForget(listener: () => void): void {
    this.#listeners.push(listener);
  }

  #fetchOnce(reference: SecretReference): Promise<SecretDocument> {
    return this.#running.get(nameOf(reference)) ?? this.#fetch(reference);
  }

  #fetch(reference: SecretReference): Promise<SecretDocument> {
    const name = nameOf(reference);
    const number = (this.#fetches += 1);
    const running = this.#fetchAndKeep(reference, number).finally(() => {
      if (this.#running.get(name) === running) this.#running.delete(name);
    });
    this.#running.set(name, running);
    return running;
  }

  async #fetchAndKeep(reference: SecretReference, fetch: number): Promise<SecretDocument> {
    const { fetcher, status, lifetime, random } = this.services;
    const { id, revision } = reference;
    try {
      const document = await fetcher.fetch(reference);
      this.#keep(id, afterSuccess({ revision, fetch }, document, this.#now(), lifetime, random));
      status.note(reference, null);
      return document;
    } catch (error) {
      if (!(error instanceof SecretError)) throw error;
      this.#keep(id, afterFailure({ revision, fetch }, this.#cached.get(id), error, this.#now()));
      status.note(reference, error.code);
      throw error;
    }
  }

  /** What a later fetch found, and what a newer revision of the reference says, is not overwritten. */
  #keep(id: string, entry: CachedSecret): void {
    if (entry.fetch <= (this.#forgotten.get(id) ?? 0)) return;
    const known = this.#cached.get(id);
    if (known !== undefined && (known.fetch > entry.fetch || known.revision > entry.revision)) return;
    this.#cached.set(id, entry);
  }

  /** The last value, when the fetch that was to replace it met an outage. */
  #instead(reference: SecretReference, error: unknown): SecretDocument {
    const decision = decide(this.#entryOf(reference), this.#now());
    if (decision.kind !== 'use') throw error;
    if (decision.stale) this.services.metrics.secretStaleServed.inc({ manager: reference.managerType });
    return decision.document;
  }

  #entryOf({ id, revision }: SecretReference): CachedSecret | undefined {
    const entry = this.#cached.get(id);
    return entry?.revision === revision ? entry : undefined;
  }

  #now(): number {
    return this.services.clock.monotonic();
  }
}

/** What a promise brought lives as long as the promise: of a secret, nothing is to be kept by it. */
function nothing(): void {}

function nameOf({ id, revision }: SecretReference): string {
  return `${id}/${revision}`;
}

/** In memory, roughly: two bytes a character. */
function bytesOf(document: SecretDocument): number {
  return 2 * (document.kind === 'text' ? document.text.length : JSON.stringify(document.fields).length);
}
