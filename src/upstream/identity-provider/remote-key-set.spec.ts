import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { errors, exportJWK, generateKeyPair, type JWK } from 'jose';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { RemoteKeySet } from './remote-key-set.js';

const MINUTE = 60_000;
const PATIENCE_MS = 20;
let jwks: readonly [JWK, JWK];
let now: number;
let fetches: number;
let failures: unknown[];
let answer: () => unknown;
let client: RemoteKeySet;

beforeAll(async () => {
  const make = async (kid: string): Promise<JWK> => ({
    ...(await exportJWK((await generateKeyPair('ES256')).publicKey)),
    kid,
  });
  jwks = [await make('one'), await make('two')];
});

beforeEach(() => {
  now = 1_000_000;
  fetches = 0;
  answer = () => ({ keys: [jwks[0]] });
  failures = [];
  client = new RemoteKeySet('https://provider.example/keys', {
    fetchGuarded: async () => {
      fetches += 1;
      return Response.json((await answer()) ?? null);
    },
    clock: { monotonic: () => now },
    logger: { warn: (line) => failures.push(line) },
    patienceMs: PATIENCE_MS,
  });
});

function down(): never {
  throw new Error('connection refused');
}

/** Lets work in the background finish. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** `found`, or the code of the failure. */
async function lookUp(kid: string): Promise<string> {
  try {
    await client.keyFor({ alg: 'ES256', kid }, { payload: '', signature: '' });
    return 'found';
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return 'unknown';
    if (error instanceof GatewayError) return error.code;
    throw error;
  }
}

describe('the key set', () => {
  it('fetches a key set when it is needed, and once for all concurrent callers', async () => {
    expect(fetches).toBe(0);
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => lookUp('one')));
    expect(new Set(outcomes)).toEqual(new Set(['found']));
    expect(fetches).toBe(1);
  });

  it('uses a key set for ten minutes', async () => {
    await lookUp('one');
    now += 10 * MINUTE - 1;
    await lookUp('one');
    expect(fetches).toBe(1);
    now += 1;
    await lookUp('one');
    expect(fetches).toBe(2);
  });

  it('fetches a key set at most once for 500 invented key ids, before and after the cool-down', async () => {
    const storm = async (): Promise<ReadonlySet<string>> =>
      new Set(await Promise.all(Array.from({ length: 500 }, (_, each) => lookUp(`invented-${each}`))));
    expect(await storm()).toEqual(new Set(['unknown']));
    expect(fetches).toBe(1);
    for (let each = 0; each < 100; each += 1) await lookUp(`later-${each}`);
    expect(fetches).toBe(1);
    now += 30_000;
    expect(await storm()).toEqual(new Set(['unknown']));
    expect(fetches).toBe(2);
  });

  it('finds a new key half a minute later at most', async () => {
    await lookUp('one');
    answer = () => ({ keys: jwks });
    expect(await lookUp('two')).toBe('unknown');
    now += 30_000;
    expect(await lookUp('two')).toBe('found');
    expect(fetches).toBe(2);
  });

  it('does not call a new key unknown when the last fetch has failed', async () => {
    await lookUp('one');
    now += 30_000;
    answer = () => {
      throw new Error('away');
    };
    expect(await lookUp('two')).toBe('identity_provider_unavailable');
    expect(await lookUp('two')).toBe('identity_provider_unavailable');
    expect(await lookUp('one')).toBe('found');
    expect(fetches).toBe(2);
    now += 30_000;
    answer = () => ({ keys: [jwks[0]] });
    expect([await lookUp('two'), await lookUp('two')]).toEqual(['unknown', 'unknown']);
    expect(fetches).toBe(3);
  });

  it.each<readonly [string, unknown]>([
    ['null', null],
    ['a number', 1],
    ['a list', []],
    ['a text', 'key'],
    ['a key without a type', {}],
    ['a key of an unknown type', { kty: 'XYZ', kid: {} }],
  ])('uses a key set that contains %s', async (_what, entry) => {
    answer = () => ({ keys: [entry, jwks[0]] });
    expect(await lookUp('one')).toBe('found');
    expect(await lookUp('two')).toBe('unknown');
  });

  it('drops a withdrawn key when the key set is fetched again', async () => {
    await lookUp('one');
    answer = () => ({ keys: [jwks[1]] });
    now += 10 * MINUTE;
    // The caller that finds the keys old does not wait for newer ones …
    expect(await lookUp('one')).toBe('found');
    await settled();
    expect(await lookUp('one')).toBe('unknown');
    expect(fetches).toBe(2);
  });

  it('fetches a key set before the answer when it was not used for a while', async () => {
    await lookUp('one');
    answer = () => ({ keys: [jwks[1]] });
    now += 15 * MINUTE;
    expect(await lookUp('one')).toBe('unknown');
  });
});

describe('a provider that hangs', () => {
  const hanging = (): Promise<never> => new Promise(() => undefined);

  it('serves known keys at once while the provider hangs, and fetches once', async () => {
    await lookUp('one');
    answer = hanging;
    for (const minutes of [10, 4.9, 0.1, 40]) {
      now += minutes * MINUTE;
      expect(new Set(await Promise.all(Array.from({ length: 100 }, () => lookUp('one'))))).toEqual(new Set(['found']));
    }
    expect(fetches).toBe(2);
  });

  it('does not keep a key without a limit while the provider hangs', async () => {
    await lookUp('one');
    answer = hanging;
    now += 60 * MINUTE;
    const outcome = lookUp('one').then(() => 'known');
    expect(await Promise.race([outcome, settled().then(() => 'waits')])).toBe('waits');
  });
});

describe('a provider that is down', () => {
  it('reports a provider that is down, and fetches again a second later', async () => {
    answer = down;
    expect(await lookUp('one')).toBe('identity_provider_unavailable');
    expect(await lookUp('one')).toBe('identity_provider_unavailable');
    expect(fetches).toBe(1);
    answer = () => ({ keys: jwks });
    now += 1_000;
    expect(await lookUp('one')).toBe('found');
  });

  it('accepts known keys for an hour while the provider is down, and does not fetch at every call', async () => {
    await lookUp('one');
    answer = down;
    now += 10 * MINUTE;
    for (let each = 0; each < 10; each += 1) expect(await lookUp('one')).toBe('found');
    expect(fetches).toBe(2);
    // No call fails, so that only the log shows it.
    expect(failures).toEqual([
      { event: 'key_set_not_fetched', host: 'provider.example', reason: 'the key set cannot be fetched: unexpected' },
    ]);
    now += 49 * MINUTE;
    expect(await lookUp('one')).toBe('found');
    now += MINUTE;
    expect(await lookUp('one')).toBe('identity_provider_unavailable');
  });

  it('blames the provider that is down for an unknown key, not the token', async () => {
    await lookUp('one');
    answer = down;
    now += 30_000;
    expect(await lookUp('two')).toBe('identity_provider_unavailable');
    expect(await lookUp('one')).toBe('found');
  });

  it.each<readonly [string, unknown]>([
    ['nothing', undefined],
    ['a page', '<html>'],
    ['other JSON', { jwks_uri: 'elsewhere' }],
    ['malformed keys', { keys: [1, null] }],
    ['too many keys', { keys: Array.from({ length: 101 }, () => ({})) }],
  ])('reports a provider as down that returns %s', async (_what, value) => {
    answer = () => value;
    expect(await lookUp('one')).toBe('identity_provider_unavailable');
  });
});
