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

/** Until what was begun behind callers' backs has come to its end. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** `found`, or why not. */
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
  it('is fetched when it is needed, and once for all who wait', async () => {
    expect(fetches).toBe(0);
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => lookUp('one')));
    expect(new Set(outcomes)).toEqual(new Set(['found']));
    expect(fetches).toBe(1);
  });

  it('is believed for ten minutes', async () => {
    await lookUp('one');
    now += 10 * MINUTE - 1;
    await lookUp('one');
    expect(fetches).toBe(1);
    now += 1;
    await lookUp('one');
    expect(fetches).toBe(2);
  });

  it('is fetched at most once for 500 invented key ids, before and after the cool-down', async () => {
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

  it('has a new key half a minute later at most', async () => {
    await lookUp('one');
    answer = () => ({ keys: jwks });
    expect(await lookUp('two')).toBe('unknown');
    now += 30_000;
    expect(await lookUp('two')).toBe('found');
    expect(fetches).toBe(2);
  });

  it('that could not be fetched since says nothing of a key that it may have by now', async () => {
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
  ])('is of use although there is %s in it', async (_what, entry) => {
    answer = () => ({ keys: [entry, jwks[0]] });
    expect(await lookUp('one')).toBe('found');
    expect(await lookUp('two')).toBe('unknown');
  });

  it('loses a withdrawn key when it is fetched again', async () => {
    await lookUp('one');
    answer = () => ({ keys: [jwks[1]] });
    now += 10 * MINUTE;
    // Whoever finds the keys old does not wait for newer ones …
    expect(await lookUp('one')).toBe('found');
    await settled();
    expect(await lookUp('one')).toBe('unknown');
    expect(fetches).toBe(2);
  });

  it('is fetched before the answer when it has not been asked for in a while', async () => {
    await lookUp('one');
    answer = () => ({ keys: [jwks[1]] });
    now += 15 * MINUTE;
    expect(await lookUp('one')).toBe('unknown');
  });
});

describe('a provider that hangs', () => {
  const hanging = (): Promise<never> => new Promise(() => undefined);

  it('keeps nobody waiting whose key is known, and is asked once', async () => {
    await lookUp('one');
    answer = hanging;
    for (const minutes of [10, 4.9, 0.1, 40]) {
      now += minutes * MINUTE;
      expect(new Set(await Promise.all(Array.from({ length: 100 }, () => lookUp('one'))))).toEqual(new Set(['found']));
    }
    expect(fetches).toBe(2);
  });

  it('does not make a key last for ever', async () => {
    await lookUp('one');
    answer = hanging;
    now += 60 * MINUTE;
    const outcome = lookUp('one').then(() => 'known');
    expect(await Promise.race([outcome, settled().then(() => 'waits')])).toBe('waits');
  });
});

describe('a provider that is down', () => {
  it('is said to be, and asked again a second later', async () => {
    answer = down;
    expect(await lookUp('one')).toBe('identity_provider_unavailable');
    expect(await lookUp('one')).toBe('identity_provider_unavailable');
    expect(fetches).toBe(1);
    answer = () => ({ keys: jwks });
    now += 1_000;
    expect(await lookUp('one')).toBe('found');
  });

  it('locks nobody out for an hour whose key is known, and is not asked all the time', async () => {
    await lookUp('one');
    answer = down;
    now += 10 * MINUTE;
    for (let each = 0; each < 10; each += 1) expect(await lookUp('one')).toBe('found');
    expect(fetches).toBe(2);
    // Nobody fails, so that nothing else would tell.
    expect(failures).toEqual([
      { event: 'key_set_not_fetched', host: 'provider.example', reason: 'the key set cannot be fetched: unexpected' },
    ]);
    now += 49 * MINUTE;
    expect(await lookUp('one')).toBe('found');
    now += MINUTE;
    expect(await lookUp('one')).toBe('identity_provider_unavailable');
  });

  it('is to blame when a key is unknown, not the token', async () => {
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
    ['keys that are none', { keys: [1, null] }],
    ['more keys than anybody has', { keys: Array.from({ length: 101 }, () => ({})) }],
  ])('is one that answers with %s', async (_what, value) => {
    answer = () => value;
    expect(await lookUp('one')).toBe('identity_provider_unavailable');
  });
});
