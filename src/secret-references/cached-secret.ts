import type { SecretDocument, SecretError, SecretErrorCode } from './managers/secret-manager.types.js';

/** How long a fetched secret is used; milliseconds. */
export interface SecretLifetime {
  readonly cacheMs: number;
  /** How much longer while its manager fails. */
  readonly staleMs: number;
}

/** What is known of a secret since the last fetches. Times in milliseconds of a monotonic clock. */
export interface CachedSecret {
  readonly revision: number;
  /** Number of the fetch that it is from: later ones have greater numbers. */
  readonly fetch: number;
  readonly document: SecretDocument | undefined;
  /** From here on, a use fetches it again in the background. */
  readonly refreshAt: number;
  readonly freshUntil: number;
  readonly staleUntil: number;
  /** Of the last fetch; undefined: it went well. */
  readonly failure: SecretError | undefined;
  /** No fetch before this time, after a failure. */
  readonly retryAt: number;
}

/** What a use of a secret does. */
export type CacheDecision =
  | { readonly kind: 'use'; readonly document: SecretDocument; readonly renew: boolean; readonly stale: boolean }
  | { readonly kind: 'fail'; readonly failure: SecretError }
  | { readonly kind: 'fetch' };

/** The manager could not say anything about the secret. After every other failure the old value may be a revoked one. */
const OUTAGES: ReadonlySet<SecretErrorCode> = new Set([
  'unreachable',
  'timeout',
  'throttled',
  'sealed',
  'manager_failed',
  'invalid_response',
]);

/** Asked again too soon, these get worse: a limit is kept up, an account is locked. */
const SLOW_RETRIES: ReadonlySet<SecretErrorCode> = new Set(['throttled', 'authentication_failed', 'access_denied']);
const RETRY_MS = 5_000;
const SLOW_RETRY_MS = 10_000;

/** Spread over ±10 %, so that secrets which were fetched together are not all fetched again together. */
const JITTER = 0.1;
/** The last part of its time in which a secret that is in use is fetched ahead. */
const REFRESH_AHEAD = 0.1;

export function afterSuccess(
  { revision, fetch }: Pick<CachedSecret, 'revision' | 'fetch'>,
  document: SecretDocument,
  now: number,
  { cacheMs, staleMs }: SecretLifetime,
  random: () => number,
): CachedSecret {
  const lifetime = cacheMs * (1 - JITTER + 2 * JITTER * random());
  const freshUntil = now + lifetime;
  const refreshAt = freshUntil - lifetime * REFRESH_AHEAD;
  const staleUntil = freshUntil + staleMs;
  return { revision, fetch, document, refreshAt, freshUntil, staleUntil, failure: undefined, retryAt: 0 };
}

/** After an outage the last value stays, for its time; after a refusal it goes. */
export function afterFailure(
  { revision, fetch }: Pick<CachedSecret, 'revision' | 'fetch'>,
  previous: CachedSecret | undefined,
  failure: SecretError,
  now: number,
): CachedSecret {
  const retryAt = now + (SLOW_RETRIES.has(failure.code) ? SLOW_RETRY_MS : RETRY_MS);
  const kept = OUTAGES.has(failure.code) && previous?.revision === revision && now < previous.staleUntil;
  return kept
    ? { ...previous, fetch, failure, retryAt }
    : { revision, fetch, document: undefined, refreshAt: 0, freshUntil: 0, staleUntil: 0, failure, retryAt };
}

export function decide(cached: CachedSecret | undefined, now: number): CacheDecision {
  if (cached === undefined) return { kind: 'fetch' };
  const { document, failure } = cached;
  const stale = now >= cached.freshUntil;
  // While the manager fails no caller waits for it; otherwise a value that is too old is fetched first.
  if (document !== undefined && (!stale || (failure !== undefined && now < cached.staleUntil))) {
    return { kind: 'use', document, stale, renew: now >= cached.refreshAt && now >= cached.retryAt };
  }
  return failure !== undefined && now < cached.retryAt ? { kind: 'fail', failure } : { kind: 'fetch' };
}
