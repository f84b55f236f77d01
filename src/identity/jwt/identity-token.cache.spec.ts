import { generateKeyPairSync } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { IdentityToken, IdentityTokenRequest } from './identity-token.js';
import { IdentityTokenCache, marginMs } from './identity-token.cache.js';
import type { SigningKey } from './signing-keys.js';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEY: SigningKey = { kid: 'key-1', privateKey };
const START = Date.parse('2026-11-21T10:00:00Z');
const REQUEST: IdentityTokenRequest = { claims: { sub: 'u-1' }, expirySeconds: 300 };

let signatures: IdentityTokenRequest[];
let cache: IdentityTokenCache;

/** Numbers the tokens, so that a test sees whether it got a new one. */
function sign(request: IdentityTokenRequest, _key: SigningKey, now: Date): Promise<IdentityToken> {
  signatures.push(request);
  return Promise.resolve({
    text: `token-${signatures.length}`,
    expiresAt: now.getTime() + request.expirySeconds * 1000,
  });
}

beforeEach(() => {
  signatures = [];
  cache = new IdentityTokenCache(3, sign);
});

const at = (seconds: number): Date => new Date(START + seconds * 1000);
const textOf = async (request: IdentityTokenRequest, seconds = 0, key = KEY): Promise<string> =>
  (await cache.get(request, key, at(seconds))).text;

describe('IdentityTokenCache', () => {
  it('returns a cached token again', async () => {
    expect(await textOf(REQUEST)).toBe('token-1');
    expect(await textOf({ ...REQUEST, claims: { sub: 'u-1' } }, 100)).toBe('token-1');
  });

  it('does not return a token that is issued in the future, after the clock was set back', async () => {
    expect(await textOf(REQUEST)).toBe('token-1');
    // Servers refuse what was issued in their future.
    expect(await textOf(REQUEST, -60)).toBe('token-2');
    expect(await textOf(REQUEST, -60)).toBe('token-2');
  });

  it.each<readonly [string, IdentityTokenRequest, SigningKey]>([
    ['the user', { ...REQUEST, claims: { sub: 'u-2' } }, KEY],
    ['the value of another claim', { ...REQUEST, claims: { sub: 'u-1', email: 'new@example.com' } }, KEY],
    ['the expiry', { ...REQUEST, expirySeconds: 301 }, KEY],
    ['the audience', { ...REQUEST, audience: 'urn:server' }, KEY],
    ['the key', REQUEST, { ...KEY, kid: 'key-2' }],
  ])('does not return a token of another %s', async (_what, request, key) => {
    expect(await textOf(REQUEST)).toBe('token-1');
    expect(await textOf(request, 0, key)).toBe('token-2');
  });

  it.each([
    [{ groups: ['a,b'] }, { groups: ['a', 'b'] }],
    [{ groups: ['a', 'b'] }, { groups: 'a,b' }],
    [{ address: { city: 'X' } }, { address: { city: 'Y' } }],
    [{ a: 'x|b:y' }, { a: 'x', b: 'y' }],
    [{ level: 1 }, { level: '1' }],
    [{ flag: true }, { flag: 'true' }],
    [{ list: [] }, { list: {} }],
    [{ 'a"': 'b' }, { a: '"b' }],
  ])('does not return the token of %j for %j', async (one, other) => {
    expect(await textOf({ ...REQUEST, claims: one })).not.toBe(await textOf({ ...REQUEST, claims: other }));
  });

  it('shares a token only between equal claims', async () => {
    const claims = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 });
    await fc.assert(
      fc.asyncProperty(claims, claims, async (one, other) => {
        const fresh = new IdentityTokenCache(10, sign);
        const [first, second] = [one, other].map((each) => fresh.get({ ...REQUEST, claims: each }, KEY, at(0)));
        const isShared = (await first) === (await second);
        expect(isShared).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
      { numRuns: 200 },
    );
  });
});

describe('IdentityTokenCache with a token that is about to expire', () => {
  it.each([
    [300, 270],
    [100, 90],
    [10, 9],
    [86_400, 86_370],
  ])('signs a token of %d seconds again after %d', async (expirySeconds, last) => {
    const request = { ...REQUEST, expirySeconds };
    expect(await textOf(request)).toBe('token-1');
    expect(await textOf(request, last)).toBe('token-1');
    expect(await textOf(request, last + 0.001)).toBe('token-2');
  });

  it('uses a margin of 30 seconds or a tenth, whichever is less', () => {
    expect([1, 100, 300, 3600].map(marginMs)).toEqual([100, 10_000, 30_000, 30_000]);
  });
});

describe('IdentityTokenCache: size and concurrency', () => {
  const user = (sub: string): IdentityTokenRequest => ({ ...REQUEST, claims: { sub } });

  it('evicts the least recently used token, not the oldest', async () => {
    for (const sub of ['a', 'b', 'c']) await textOf(user(sub));
    await textOf(user('a'));
    await textOf(user('d'));
    expect(await textOf(user('a'))).toBe('token-1');
    expect(await textOf(user('b'))).toBe('token-5');
  });

  it('holds 10,000 tokens by default', async () => {
    cache = new IdentityTokenCache(undefined, sign);
    for (let each = 0; each < 10_001; each += 1) await cache.get(user(`u-${each}`), KEY, at(0));
    await cache.get(user('u-1'), KEY, at(0));
    expect(signatures).toHaveLength(10_001);
    await cache.get(user('u-0'), KEY, at(0));
    expect(signatures).toHaveLength(10_002);
  });

  it('signs once for concurrent requests', async () => {
    const tokens = await Promise.all(Array.from({ length: 20 }, () => textOf(REQUEST)));
    expect(new Set(tokens)).toEqual(new Set(['token-1']));
    expect(signatures).toHaveLength(1);
  });

  it('does not cache a failure', async () => {
    let failures = 0;
    const failing = new IdentityTokenCache(3, async (request, key, now) => {
      failures += 1;
      if (failures === 1) throw new Error('no entropy');
      return sign(request, key, now);
    });
    await expect(failing.get(REQUEST, KEY, at(0))).rejects.toThrow('no entropy');
    expect((await failing.get(REQUEST, KEY, at(0))).text).toBe('token-1');
  });
});
