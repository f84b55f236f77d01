import { describe, expect, it } from '@jest/globals';
import { afterFailure, afterSuccess, type CachedSecret, decide } from './cached-secret.js';
import {
  SECRET_ERROR_CODES,
  type SecretDocument,
  SecretError,
  type SecretErrorCode,
} from './managers/secret-manager.types.js';

const LIFETIME = { cacheMs: 300_000, staleMs: 900_000 };
const DOCUMENT: SecretDocument = { kind: 'text', text: 'v1' };
const OUTAGES = ['unreachable', 'timeout', 'throttled', 'sealed', 'manager_failed', 'invalid_response'];

function fetchedAt(now: number, random = 0.5): CachedSecret {
  return afterSuccess({ revision: 1, fetch: 1 }, DOCUMENT, now, LIFETIME, () => random);
}

function failedAt(now: number, code: SecretErrorCode, previous?: CachedSecret): CachedSecret {
  return afterFailure({ revision: 1, fetch: 2 }, previous, new SecretError(code, 'a test'), now);
}

describe('a fetched secret', () => {
  it('uses a secret for its time, spread over ±10 %', () => {
    expect(fetchedAt(0, 0).freshUntil).toBe(270_000);
    expect(fetchedAt(0, 0.5).freshUntil).toBe(300_000);
    expect(fetchedAt(0, 1).freshUntil).toBeCloseTo(330_000);
  });

  it('fetches a secret ahead in the last tenth of its time, and at a request after it', () => {
    const entry = fetchedAt(0);
    expect(decide(entry, 269_999)).toEqual({ kind: 'use', document: DOCUMENT, renew: false, stale: false });
    expect(decide(entry, 270_000)).toMatchObject({ kind: 'use', renew: true, stale: false });
    expect(decide(entry, 300_000)).toEqual({ kind: 'fetch' });
  });

  it('fetches a secret of which nothing is known', () => expect(decide(undefined, 0)).toEqual({ kind: 'fetch' }));

  it('fetches a secret that is not cached at each use', () => {
    const entry = afterSuccess({ revision: 1, fetch: 1 }, DOCUMENT, 0, { cacheMs: 0, staleMs: 0 }, () => 0.5);
    expect(decide(entry, 0)).toEqual({ kind: 'fetch' });
  });
});

describe('a failure', () => {
  it.each(SECRET_ERROR_CODES)('keeps or drops the last value after the failure %s', (code) => {
    const entry = failedAt(280_000, code, fetchedAt(0));
    const kept = OUTAGES.includes(code);
    expect(decide(entry, 280_000)).toMatchObject(kept ? { kind: 'use', document: DOCUMENT } : { kind: 'fail' });
  });

  it('uses the last value for its bounded time while the manager fails, and retries at intervals', () => {
    const entry = failedAt(310_000, 'unreachable', fetchedAt(0));
    expect(decide(entry, 310_001)).toMatchObject({ kind: 'use', stale: true, renew: false });
    expect(decide(entry, 315_000)).toMatchObject({ kind: 'use', stale: true, renew: true });
    expect(decide(entry, 1_199_999)).toMatchObject({ kind: 'use' });
    expect(decide(entry, 1_200_000)).toEqual({ kind: 'fetch' });
  });

  it('returns the failure to every request after the bounded time until the next try', () => {
    const entry = failedAt(1_200_000, 'unreachable', failedAt(310_000, 'unreachable', fetchedAt(0)));
    expect(decide(entry, 1_204_999)).toMatchObject({ kind: 'fail', failure: { code: 'unreachable' } });
    expect(decide(entry, 1_205_000)).toEqual({ kind: 'fetch' });
  });

  it.each([
    ['not_found', 5_000],
    ['unreachable', 5_000],
    ['throttled', 10_000],
    ['authentication_failed', 10_000],
  ] as const)('returns the failure for some seconds before it asks the manager again: %s', (code, milliseconds) => {
    const entry = failedAt(0, code);
    expect(decide(entry, milliseconds - 1)).toMatchObject({ kind: 'fail' });
    expect(decide(entry, milliseconds)).toEqual({ kind: 'fetch' });
  });

  it("does not keep another revision's value", () => {
    const entry = failedAt(1_000, 'unreachable', { ...fetchedAt(0), revision: 0 });
    expect(decide(entry, 1_000)).toMatchObject({ kind: 'fail' });
  });
});
