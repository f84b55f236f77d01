import { beforeEach, describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../common/errors/gateway.error.js';
import type { JwtValidation } from '../config/identity-config.js';
import { toJwtValidation } from '../config/to-jwt-validation.js';
import { Introspector } from './introspector.js';
import { TokenRefusedError } from './token-errors.js';

const START = Date.parse('2026-11-21T10:00:00Z');
const SECONDS = START / 1000;
const FROM = {
  endpoint: 'https://login.example.com/introspect',
  clientId: 'gate:way',
  clientSecret: 'a b',
  cacheSeconds: 30,
};
const RULES = toJwtValidation({});

let asked: { readonly url: string; readonly form: string; readonly authorization: string }[];
let answer: () => unknown;
let introspector: Introspector;
let monotonic: number;

beforeEach(() => {
  asked = [];
  answer = () => ({ active: true, sub: 'u-1', exp: SECONDS + 300 });
  monotonic = 0;
  introspector = new Introspector(
    {
      postForm: async (url, form, authorization) => {
        asked.push({ url, form: form.toString(), authorization });
        return answer();
      },
    },
    () => monotonic,
  );
});

/** `ok`, or why not. */
async function verdict(
  rules: Partial<JwtValidation> = {},
  seconds = 0,
  from = FROM,
  token = 'opaque',
): Promise<string> {
  const now = new Date(START + seconds * 1000);
  monotonic = seconds * 1000;
  try {
    await introspector.introspect(token, from, { ...RULES, ...rules }, now);
    return 'ok';
  } catch (error) {
    if (error instanceof TokenRefusedError) return error.reason;
    if (error instanceof GatewayError) return error.code;
    throw error;
  }
}

/** Until what was begun has come as far as it can without an answer. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe('Introspector', () => {
  it('sends the request of RFC 7662 and RFC 6749', async () => {
    const claims = await introspector.introspect('opa+que', FROM, RULES, new Date(START));
    expect(claims).toMatchObject({ sub: 'u-1' });
    expect(asked).toEqual([
      {
        url: FROM.endpoint,
        form: 'token=opa%2Bque&token_type_hint=access_token',
        authorization: `Basic ${Buffer.from('gate%3Away:a+b').toString('base64')}`,
      },
    ]);
  });

  it('shares one request between concurrent calls and caches the answer', async () => {
    expect(new Set(await Promise.all(Array.from({ length: 20 }, () => verdict())))).toEqual(new Set(['ok']));
    expect(await verdict({}, 29.999)).toBe('ok');
    expect(asked).toHaveLength(1);
    expect(await verdict({}, 30)).toBe('ok');
    expect(asked).toHaveLength(2);
  });

  it('does not cache an answer for longer than the token lives', async () => {
    answer = () => ({ active: true, sub: 'u-1', exp: SECONDS + 10 });
    await verdict();
    answer = () => ({ active: false });
    expect(await verdict({}, 9)).toBe('ok');
    expect(await verdict({}, 10)).toBe('inactive');
  });

  it('does not cache an answer for longer when the clock is set back', async () => {
    await verdict();
    monotonic += 30_000;
    answer = () => ({ active: false });
    const setBack = introspector.introspect('opaque', FROM, RULES, new Date(START - 3_600_000));
    await expect(setBack).rejects.toThrow('inactive');
  });

  it('asks each time when the cache is turned off', async () => {
    await verdict({}, 0, { ...FROM, cacheSeconds: 0 });
    await verdict({}, 0, { ...FROM, cacheSeconds: 0 });
    expect(asked).toHaveLength(2);
  });

  it('caches answers by token, endpoint and client', async () => {
    await verdict();
    await verdict({}, 0, FROM, 'another');
    await verdict({}, 0, { ...FROM, clientId: 'another' });
    await verdict({}, 0, { ...FROM, endpoint: 'https://other.example.com/introspect' });
    expect(asked).toHaveLength(4);
  });

  it('refuses an inactive token and caches the refusal', async () => {
    answer = () => ({ active: false, sub: 'u-1' });
    expect(await verdict()).toBe('inactive');
    expect(await verdict({}, 4.999)).toBe('inactive');
    expect(asked).toHaveLength(1);
    answer = () => ({ active: true, sub: 'u-1' });
    expect(await verdict({}, 5)).toBe('ok');
  });

  it('keeps valid answers in the cache when many bad tokens come', async () => {
    expect(await verdict({}, 0, FROM, 'good')).toBe('ok');
    answer = () => ({ active: false });
    for (let each = 0; each < 10_001; each += 1) await verdict({}, 0, FROM, `junk-${each}`);
    const before = asked.length;
    expect(await verdict({}, 0, FROM, 'good')).toBe('ok');
    expect(await verdict({}, 0, FROM, 'junk-10000')).toBe('inactive');
    expect(asked).toHaveLength(before);
  });

  it('limits concurrent requests per endpoint', async () => {
    const waiting: (() => void)[] = [];
    answer = () => new Promise((resolve) => waiting.push(() => resolve({ active: false })));
    const verdicts = Array.from({ length: 100 }, (_none, each) => verdict({}, 0, FROM, `junk-${each}`));
    await settled();
    expect(asked).toHaveLength(32);
    answer = () => ({ active: true, sub: 'u-1' });
    expect(await verdict({}, 0, { ...FROM, endpoint: 'https://other.example.com/introspect' })).toBe('ok');
    for (const go of waiting) go();
    expect(new Set(await Promise.all(verdicts.slice(0, 32)))).toEqual(new Set(['inactive']));
    expect(new Set(await Promise.all(verdicts.slice(32)))).toEqual(new Set(['ok']));
  });

  it('refuses an unknown token at once when too many requests wait, but not a token that was valid before', async () => {
    await verdict({}, 0, FROM, 'good');
    const waiting: (() => void)[] = [];
    answer = () => new Promise((resolve) => waiting.push(() => resolve({ active: false })));
    const verdicts = Array.from({ length: 32 + 256 }, (_none, each) => verdict({}, 0, FROM, `junk-${each}`));
    await settled();
    expect(await verdict({}, 0, FROM, 'one-more')).toBe('identity_provider_unavailable');
    expect(await verdict({}, 0, FROM, 'good')).toBe('ok');
    answer = () => ({ active: true, sub: 'u-1' });
    expect(await verdict({}, FROM.cacheSeconds + 1, FROM, 'good')).toBe('ok');
    expect(asked).toHaveLength(1 + 32 + 1);
    answer = () => ({ active: false });
    for (const go of waiting) go();
    expect(new Set(await Promise.all(verdicts))).toEqual(new Set(['inactive']));
  });

  it.each<readonly [string, object, Partial<JwtValidation>]>([
    ['expired', { exp: SECONDS - 5 }, {}],
    ['malformed', { exp: 'tomorrow' }, {}],
    ['malformed', { exp: String(SECONDS + 300) }, {}],
    ['not_yet_valid', { nbf: SECONDS + 6 }, {}],
    ['malformed', { nbf: String(SECONDS) }, {}],
    ['issuer', { iss: 'https://evil.example' }, { issuer: 'https://login.example.com' }],
    ['audience', { aud: 'other' }, { audience: ['api'] }],
    ['audience', {}, { audience: ['api'] }],
    ['ok', { exp: SECONDS - 4, nbf: SECONDS + 5 }, {}],
    ['ok', { aud: ['other', 'api'] }, { audience: ['api'] }],
    ['ok', {}, { issuer: 'https://login.example.com' }],
    ['ok', { exp: null, nbf: null, iss: null }, { issuer: 'https://login.example.com' }],
    ['audience', { aud: null }, { audience: ['api'] }],
  ])('returns %s for the answer %j under the rules %j', async (wanted, claims, rules) => {
    answer = () => ({ active: true, sub: 'u-1', ...claims });
    expect(await verdict(rules)).toBe(wanted);
  });

  it.each<readonly [string, () => unknown]>([
    [
      'does not answer',
      () => {
        throw new Error('connection refused');
      },
    ],
    ['answers with a page', () => '<html>'],
    ['does not say whether the token is active', () => ({ sub: 'u-1' })],
    ['says it in words', () => ({ active: 'true' })],
  ])('refuses the token when the endpoint %s', async (_what, failure) => {
    answer = failure;
    expect(await verdict()).toBe('identity_provider_unavailable');
    answer = () => ({ active: true, sub: 'u-1' });
    expect(await verdict()).toBe('ok');
  });
});
