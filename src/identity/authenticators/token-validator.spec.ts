import { createHmac, generateKeyPairSync } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { exportJWK, exportSPKI, generateKeyPair, type JWTHeaderParameters, SignJWT } from 'jose';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { Clock } from '../../common/time/clock.js';
import { type Loopback, startHttp } from '../../upstream/__fixtures__/loopback.js';
import { EgressPolicy } from '../../upstream/egress/egress-policy.js';
import { SIGNATURE_ALGORITHMS } from '../../common/crypto/signature-algorithms.js';
import type { JwtValidation, JwtValidationFields } from '../config/identity-config.js';
import { toJwtValidation } from '../config/to-jwt-validation.js';
import { IdentityProviderClient } from './identity-provider-client.js';
import { TokenRefusedError } from './token-errors.js';
import { TokenValidator } from './token-validator.js';

const ISSUER = 'https://login.example.com';
const CLAIMS = {
  iss: ISSUER,
  aud: 'api',
  sub: 'u-1',
  scope: 'mcp:read mcp:write',
  groups: ['staff'],
  empty: '',
  nothing: null,
};

type KeyPair = Awaited<ReturnType<typeof generateKeyPair>>;

class StoppedClock extends Clock {
  constructor(public time: number) {
    super();
  }

  /** What the wall says besides: an administrator, or the network, sets it. */
  setBack = 0;

  override now(): Date {
    return new Date(this.time - this.setBack);
  }

  override monotonic(): number {
    return this.time;
  }
}

let pairs: Readonly<Record<'rsa' | 'twin' | 'stranger' | 'elliptic', KeyPair>>;
let server: Loopback;
let published: object;
let answer: RequestListener;
const answerWithKeys: RequestListener = (_request, response) => void response.end(JSON.stringify(published));
let validator: TokenValidator;
let clock: StoppedClock;
let rules: JwtValidation;

beforeAll(async () => {
  const make = (alg: string): Promise<KeyPair> => generateKeyPair(alg, { extractable: true });
  const [rsa, twin, stranger, elliptic] = await Promise.all([
    make('RS256'),
    make('RS256'),
    make('RS256'),
    make('ES256'),
  ]);
  pairs = { rsa, twin, stranger, elliptic };
  server = await startHttp((request, response) => answer(request, response));
});

afterAll(() => server.close());

beforeEach(async () => {
  answer = answerWithKeys;
  published = { keys: [{ ...(await exportJWK(pairs.rsa.publicKey)), kid: 'rsa-1' }] };
  clock = new StoppedClock(Date.parse('2026-11-21T10:00:00Z'));
  validator = new TokenValidator(
    new IdentityProviderClient(new EgressPolicy(['127.0.0.1']), clock, { warn: () => undefined }),
    clock,
  );
  rules = rulesWith({});
});

function rulesWith(fields: JwtValidationFields): JwtValidation {
  return toJwtValidation({ jwksUri: server.url('/keys').href, ...fields });
}

function seconds(): number {
  return Math.floor(clock.time / 1000);
}

/** A good token, but for the named changes; `undefined` leaves a claim out. */
function sign(
  claims: object = {},
  { privateKey }: Pick<KeyPair, 'privateKey'> = pairs.rsa,
  header: Partial<JWTHeaderParameters> = {},
): Promise<string> {
  const all = { ...CLAIMS, iat: seconds(), exp: seconds() + 300, ...claims };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return new SignJWT(given).setProtectedHeader({ alg: 'RS256', kid: 'rsa-1', ...header }).sign(privateKey);
}

/** What signing libraries refuse to make. */
function forge(header: object, claims: object, signature: (text: string) => string = () => ''): string {
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${text}.${signature(text)}`;
}

/** `ok`, or why not. */
async function verdict(token: string, by = rules): Promise<string> {
  try {
    await validator.validate(token, by, clock.now());
    return 'ok';
  } catch (error) {
    if (error instanceof TokenRefusedError) return error.reason;
    if (error instanceof GatewayError) return error.code;
    throw error;
  }
}

describe('TokenValidator with a valid token', () => {
  it('returns the claims of a JWT', async () => {
    const token = await sign();
    for (let time = 0; time < 2; time += 1) {
      expect(await validator.validate(token, rules, clock.now())).toMatchObject({
        claims: { sub: 'u-1', iss: ISSUER },
        isIntrospected: false,
      });
    }
  });

  it('returns the claims of the introspection answer', async () => {
    const introspection = { endpoint: server.url('/introspect').href, client_id: 'gateway', client_secret: 'a secret' };
    answer = (_request, response) => void response.end('{"active":true,"username":"ann"}');
    const by = rulesWith({ introspection });
    expect(await validator.validate('opaque', by, clock.now())).toEqual({
      claims: { active: true, username: 'ann' },
      isIntrospected: true,
    });
    answer = answerWithKeys;
    expect(await validator.validate(await sign(), by, clock.now())).toMatchObject({ isIntrospected: false });
  });

  it.each(['JWT', 'jwt', 'at+jwt', 'application/at+jwt'])('accepts a token of the type %s', async (typ) => {
    expect(await verdict(await sign({}, pairs.rsa, { typ }))).toBe('ok');
  });

  it('accepts the configured signature algorithms', async () => {
    published = { keys: [{ ...(await exportJWK(pairs.elliptic.publicKey)), kid: 'ec-1' }] };
    const token = await sign({}, pairs.elliptic, { alg: 'ES256', kid: 'ec-1' });
    expect(await verdict(token)).toBe('algorithm');
    expect(await verdict(token, rulesWith({ algorithms: ['ES256'] }))).toBe('ok');
  });

  it.each(['Ed25519', 'EdDSA'])('accepts a signature on an Edwards curve under both names: %s', async (alg) => {
    const edwards = await generateKeyPair(alg, { extractable: true });
    published = { keys: [{ ...(await exportJWK(edwards.publicKey)), kid: 'ed-1' }] };
    const token = await sign({}, edwards, { alg, kid: 'ed-1' });
    expect(await verdict(token)).toBe('algorithm');
    const all = rulesWith({ algorithms: SIGNATURE_ALGORITHMS });
    expect(await verdict(token, all)).toBe('ok');
    const forged = await sign({}, await generateKeyPair(alg), { alg, kid: 'ed-1' });
    expect(await verdict(forged, all)).toBe('signature');
  });

  it('ignores unusable keys of the key set', async () => {
    const { publicKey: weak } = generateKeyPairSync('rsa', { modulusLength: 1_024 });
    const unusable = [weak.export({ format: 'jwk' }), { kty: 'RSA', n: '!', e: 'AQAB' }, { kty: 'RSA' }];
    published = { keys: [...unusable, await exportJWK(pairs.rsa.publicKey)] };
    expect(await verdict(await sign({}, pairs.rsa, { kid: undefined }))).toBe('ok');
    expect(await verdict(await sign({}, pairs.stranger, { kid: undefined }))).toBe('signature');
  });

  it.each<[string, object]>([
    ['is too short', generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey.export({ format: 'jwk' })],
    ['has no modulus', { kty: 'RSA', e: 'AQAB' }],
    ['has no number for a modulus', { kty: 'RSA', n: '!', e: 'AQAB' }],
  ])('refuses a token whose key %s', async (_what, key) => {
    published = { keys: [{ ...key, kid: 'rsa-1' }] };
    expect(await verdict(await sign())).toBe('unknown_key');
  });

  it('tries every matching key for a token without a key id', async () => {
    published = {
      keys: [
        { ...(await exportJWK(pairs.twin.publicKey)), kid: 'twin' },
        { ...(await exportJWK(pairs.rsa.publicKey)), kid: 'rsa-1' },
      ],
    };
    expect(await verdict(await sign({}, pairs.rsa, { kid: undefined }))).toBe('ok');
    expect(await verdict(await sign({}, pairs.stranger, { kid: undefined }))).toBe('signature');
    expect(
      await verdict(
        await sign({ exp: seconds() + 9, aud: 'x' }, pairs.rsa, { kid: undefined }),
        rulesWith({ audience: 'api' }),
      ),
    ).toBe('audience');
  });
});

describe('TokenValidator and the times of a token', () => {
  it.each<readonly [string, object, number]>([
    ['ok', { exp: -4 }, 5],
    ['expired', { exp: -5 }, 5],
    ['expired', { exp: -1 }, 0],
    ['ok', { exp: -59 }, 60],
    ['not_yet_valid', { nbf: 6 }, 5],
    ['ok', { nbf: 5 }, 5],
  ])('returns %s for the times %j with a tolerance of %d seconds', async (wanted, offsets, clock_tolerance_seconds) => {
    const claims = Object.fromEntries(
      Object.entries(offsets).map(([name, offset]) => [name, seconds() + Number(offset)]),
    );
    expect(await verdict(await sign(claims), rulesWith({ clock_tolerance_seconds }))).toBe(wanted);
  });

  it('refuses a token without an expiry', async () => {
    expect(await verdict(await sign({ exp: undefined }))).toBe('no_expiry');
    expect(await verdict(await sign({ exp: 'tomorrow' }))).toBe('no_expiry');
  });
});

describe('TokenValidator and the rules of the server', () => {
  it.each<readonly [string, JwtValidationFields, object]>([
    ['ok', { issuer: ISSUER, audience: 'api' }, {}],
    ['ok', { audience: ['other', 'api'] }, {}],
    ['issuer', { issuer: ISSUER }, { iss: 'https://evil.example' }],
    ['issuer', { issuer: ISSUER }, { iss: `${ISSUER}/` }],
    ['issuer', { issuer: ISSUER }, { iss: undefined }],
    ['audience', { audience: 'api' }, { aud: 'other' }],
    ['audience', { audience: 'api' }, { aud: undefined }],
    ['ok', { requiredClaims: ['sub', 'groups'] }, {}],
    ['missing_claim', { requiredClaims: ['email'] }, {}],
    ['missing_claim', { requiredClaims: ['empty'] }, {}],
    ['missing_claim', { requiredClaims: ['nothing'] }, {}],
    ['missing_claim', { requiredClaims: ['toString'] }, {}],
    ['ok', { claim_values: { groups: ['staff', 'admins'], scope: 'mcp:write' } }, {}],
    ['claim_value', { claim_values: { groups: 'admins' } }, {}],
    ['claim_value', { claim_values: { groups: 'sta' } }, {}],
    ['claim_value', { claim_values: { scope: 'mcp' } }, {}],
    ['claim_value', { claim_values: { email: 'a' } }, {}],
    ['ok', { claim_values: { email_verified: 'true' } }, { email_verified: true }],
  ])('returns %s under the rules %j for the claims %j', async (wanted, fields, claims) => {
    expect(await verdict(await sign(claims), rulesWith(fields))).toBe(wanted);
  });
});

describe('TokenValidator with an invalid token', () => {
  it.each<readonly [string, string, () => string | Promise<string>]>([
    ['signed by a stranger', 'signature', () => sign({}, pairs.stranger)],
    ['by an unknown key', 'unknown_key', () => sign({}, pairs.stranger, { kid: 'rsa-2' })],
    ['of 17 KiB', 'too_long', () => sign({ note: 'x'.repeat(17 * 1024) })],
    ['that is another kind of token', 'wrong_type', () => sign({}, pairs.rsa, { typ: 'logout+jwt' })],
    ['that is text', 'malformed', () => 'junk'],
    ['that is empty', 'malformed', () => ''],
    ['with a space in it', 'malformed', () => 'a b'],
    ['of empty objects', 'algorithm', () => 'e30.e30.e30'],
    ['of junk', 'malformed', () => 'a.b.c'],
    ['of five parts', 'malformed', () => 'a.b.c.d.e'],
    [
      'without a signature',
      'algorithm',
      () => forge({ alg: 'none', kid: 'rsa-1' }, { ...CLAIMS, exp: seconds() + 60 }),
    ],
    [
      'of an unknown algorithm',
      'algorithm',
      () => forge({ alg: 'NONE', kid: 'rsa-1' }, { ...CLAIMS, exp: seconds() + 60 }),
    ],
    ['whose signature was cut off', 'signature', async () => `${(await sign()).split('.').slice(0, 2).join('.')}.`],
  ])('refuses a token %s, with the reason %s', async (_what, wanted, token) =>
    expect(await verdict(await token())).toBe(wanted),
  );

  it('refuses a token that was signed with the public key as a shared secret', async () => {
    const claims = { ...CLAIMS, exp: seconds() + 300 };
    for (const secret of [await exportSPKI(pairs.rsa.publicKey), (await exportJWK(pairs.rsa.publicKey)).n ?? '']) {
      const token = forge({ alg: 'HS256', kid: 'rsa-1' }, claims, (text) =>
        createHmac('sha256', secret).update(text).digest('base64url'),
      );
      expect(await verdict(token)).toBe('algorithm');
    }
  });

  it('refuses a token that no key can verify without asking the provider', async () => {
    const before = server.requests.length;
    await verdict(await sign({ exp: seconds() - 60 }));
    await verdict(forge({ alg: 'HS256', kid: 'x' }, CLAIMS));
    await verdict('junk');
    expect(server.requests.length).toBe(before);
  });
});

describe('TokenValidator and its cache', () => {
  it('caches a token for a minute, and no longer than it lives', async () => {
    const token = await sign();
    const short = await sign({ exp: seconds() + 30 });
    expect([await verdict(token), await verdict(short)]).toEqual(['ok', 'ok']);
    published = { keys: [] };
    clock.time += 36_000;
    expect(await verdict(token)).toBe('ok');
    expect(await verdict(short)).toBe('expired');
    clock.time += 24_000;
    // The provider has withdrawn the key since.
    clock.time += 840_000;
    const longLived = await sign();
    expect(await verdict(longLived)).toBe('unknown_key');
  });

  it('expires a cached token on time when the clock is set back', async () => {
    const token = await sign();
    expect(await verdict(token)).toBe('ok');
    published = { keys: [] };
    clock.setBack = 3_600_000;
    clock.time += 60_000;
    // A withdrawn key takes effect as soon as without a change of the clock.
    clock.time += 14 * 60_000;
    expect(await verdict(token)).toBe('unknown_key');
  });

  it('does not reuse a token for the rules of another server', async () => {
    const token = await sign();
    expect(await verdict(token)).toBe('ok');
    expect(await verdict(token, rulesWith({ requiredClaims: ['email'] }))).toBe('missing_claim');
    expect(await verdict(token, rulesWith({ audience: 'other' }))).toBe('audience');
    expect(await verdict(token, rulesWith({ jwksUri: server.url('/other').href, issuer: 'x' }))).toBe('issuer');
  });

  it('does not reuse a cached answer for another token', async () => {
    const token = await sign();
    expect(await verdict(token)).toBe('ok');
    expect(await verdict(`${token.slice(0, -4)}AAAA`)).toBe('signature');
  });
});

describe('TokenValidator and the provider', () => {
  it('fetches the keys once for 500 tokens of unknown keys', async () => {
    const before = server.requests.length;
    const tokens = await Promise.all(
      Array.from({ length: 500 }, (_, each) => sign({}, pairs.elliptic, { alg: 'ES256', kid: `k-${each}` })),
    );
    const by = rulesWith({ algorithms: ['ES256'] });
    expect(new Set(await Promise.all(tokens.map((token) => verdict(token, by))))).toEqual(new Set(['unknown_key']));
    expect(server.requests.length - before).toBe(1);
  });

  it('shares the key set between all servers with its address', async () => {
    const before = server.requests.length;
    await verdict(await sign());
    await verdict(await sign(), rulesWith({ issuer: ISSUER }));
    expect(server.requests.length - before).toBe(1);
  });

  it('accepts new keys of the provider', async () => {
    expect(await verdict(await sign())).toBe('ok');
    published = { keys: [{ ...(await exportJWK(pairs.twin.publicKey)), kid: 'twin' }] };
    clock.time += 30_000;
    expect(await verdict(await sign({}, pairs.twin, { kid: 'twin' }))).toBe('ok');
    expect(await verdict(await sign({ jti: 'new' }))).toBe('unknown_key');
  });

  it.each<readonly [string, RequestListener]>([
    ['fails', (_request, response) => void response.writeHead(500).end('{"keys":[]}')],
    ['has moved', (_request, response) => void response.writeHead(302, { location: '/keys' }).end()],
    ['hangs up', (request) => void request.socket.destroy()],
    [
      'sends more than 256 KiB',
      (_request, response) => void response.end(JSON.stringify({ keys: [], x: 'x'.repeat(256 * 1024) })),
    ],
  ])('reports identity_provider_unavailable when the provider %s', async (_what, failure) => {
    answer = failure;
    await expect(validator.validate(await sign(), rules, clock.now())).rejects.toMatchObject({
      code: 'identity_provider_unavailable',
      status: 502,
      headers: { 'retry-after': '5' },
    });
  });

  it('does not call a provider that EGRESS_ALLOW refuses', async () => {
    for (const jwksUri of ['https://169.254.169.254/keys', 'http://login.example.com/keys']) {
      expect(await verdict(await sign(), rulesWith({ jwksUri }))).toBe('identity_provider_unavailable');
    }
  });
});
