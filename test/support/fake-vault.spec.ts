// The double is compared with an independent client (node-vault) and with the published answers.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { generateKeyPair, SignJWT, type CryptoKey } from 'jose';
import nodeVault from 'node-vault';
import { isObject, readObject, readString, type JsonObject } from '../../src/common/json/read.js';
import { FakeAppRole, FakeJwt, FakeKubernetes } from './fake-vault-auth.js';
import { FakeDatabase, FakeKvV1, FakeKvV2 } from './fake-vault-kv.js';
import { FakeVault } from './fake-vault.js';
import { TestClock } from './test-clock.js';

const clock = new TestClock();
const now = (): number => clock.now().getTime();
let vault: FakeVault;
let kv1: FakeKvV1;
let kv2: FakeKvV2;

beforeEach(async () => {
  vault = new FakeVault(now);
  await vault.listen();
  kv1 = vault.root.mount('kv', new FakeKvV1());
  kv2 = vault.root.mount('secret', new FakeKvV2(now));
  vault.root.writePolicy('reader', { 'secret/data/*': ['read'], 'kv/*': ['read'] });
});

afterEach(() => vault.close());

function client(token?: string, namespace = ''): nodeVault.client {
  return nodeVault({ endpoint: vault.addr, token: token ?? '', namespace });
}

async function answerOf(work: Promise<unknown>): Promise<JsonObject> {
  return readObject(await work, 'answer');
}

/** Status and first error of a refusal, as node-vault reports it. */
async function refusalOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => new Error('it was not refused'),
    (cause: unknown) => cause,
  );
  if (!(error instanceof Error)) throw new Error('expected an error', { cause: error });
  const response = 'response' in error && isObject(error.response) ? error.response : {};
  return `${String(response['statusCode'])} ${error.message}`;
}

/** Checks that an answer has every field of the published one, each of the same type. */
function expectForm(actual: unknown, published: JsonObject): void {
  const answer = readObject(actual, 'answer');
  for (const [name, value] of Object.entries(published)) {
    if (isObject(value)) expectForm(answer[name], value);
    else expect([name, kindOf(answer[name])]).toEqual([name, kindOf(value)]);
  }
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
}

describe('key/value engine, version 2', () => {
  it('answers a KV v2 read as documented', async () => {
    kv2.put('my-secret', { foo: 'bar' });
    const answer = await answerOf(client(vault.rootToken).read('secret/data/my-secret'));
    expectForm(answer, {
      data: {
        data: { foo: 'bar' },
        metadata: { created_time: '', custom_metadata: null, deletion_time: '', destroyed: false, version: 2 },
      },
      lease_duration: 0,
      lease_id: '',
      renewable: false,
    });
  });

  it('keeps, deletes, restores and destroys KV v2 versions', async () => {
    const root = client(vault.rootToken);
    await root.write('secret/data/db', { data: { password: 'one' } });
    await root.write('secret/data/db', { data: { password: 'two' } });
    expect(await root.read('secret/data/db')).toMatchObject({ data: { data: { password: 'two' } } });
    expect(await root.read('secret/data/db?version=1')).toMatchObject({ data: { data: { password: 'one' } } });

    await root.delete('secret/data/db');
    await expect(root.read('secret/data/db')).rejects.toMatchObject({
      response: { statusCode: 404, body: { data: { data: null, metadata: { version: 2, destroyed: false } } } },
    });
    await root.write('secret/undelete/db', { versions: [2] });
    expect(await root.read('secret/data/db')).toMatchObject({ data: { data: { password: 'two' } } });
    await root.write('secret/destroy/db', { versions: [2] });
    await expect(root.read('secret/data/db')).rejects.toMatchObject({
      response: { statusCode: 404, body: { data: { data: null, metadata: { destroyed: true } } } },
    });
  });

  it('returns 404 for unknown KV v2 names, versions and paths without data/', async () => {
    kv2.put('db', { password: 'one' });
    const root = client(vault.rootToken);
    for (const path of ['secret/data/other', 'secret/data/db?version=9']) {
      await expect(root.read(path)).rejects.toMatchObject({ response: { statusCode: 404, body: { errors: [] } } });
    }
    await expect(root.read('secret/db')).rejects.toMatchObject({
      response: { statusCode: 404, body: { data: null, warnings: [expect.stringContaining('Invalid path')] } },
    });
    expect(await refusalOf(root.write('secret/data/db', { password: 'bare' }))).toBe('400 no data provided');
  });
});

describe('key/value engine, version 1', () => {
  it('answers a KV v1 read as documented', async () => {
    kv1.put('my-secret', { foo: 'bar' });
    const answer = await answerOf(client(vault.rootToken).read('kv/my-secret'));
    expectForm(answer, {
      auth: null,
      data: { foo: 'bar' },
      lease_duration: 3600,
      lease_id: '',
      renewable: false,
    });
  });

  it('writes and deletes KV v1 secrets, and returns 404 for unknown names', async () => {
    const root = client(vault.rootToken);
    await root.write('kv/db', { password: 'one' });
    expect(await root.read('kv/db')).toMatchObject({ data: { password: 'one' } });
    await root.delete('kv/db');
    expect(await refusalOf(root.read('kv/db'))).toBe('404 Status 404');
  });
});

describe('mounts', () => {
  it('finds a mount of any depth by a path in it', async () => {
    vault.root.mount('team/kv', new FakeKvV2(now));
    const root = client(vault.rootToken);
    const answer = await answerOf(root.read('sys/internal/ui/mounts/team/kv/a/b'));
    expect(answer['data']).toMatchObject({ path: 'team/kv/', type: 'kv', options: { version: '2' } });
    expect(await root.read('sys/internal/ui/mounts/kv/x')).toMatchObject({ data: { path: 'kv/', options: null } });
  });

  it('hides mounts from tokens without access, and refuses nested mounts', async () => {
    vault.root.writePolicy('other', { 'kv/team-a/*': ['read'] });
    const reader = client(vault.root.createToken({ policies: ['other'] }));
    await reader.read('sys/internal/ui/mounts/kv/x');
    expect(await refusalOf(reader.read('sys/internal/ui/mounts/secret/x'))).toMatch(/^403 preflight capability check/);
    expect(await refusalOf(reader.read('sys/internal/ui/mounts/nowhere/x'))).toMatch(/^403 preflight/);
    expect(() => vault.root.mount('kv/inner', new FakeKvV1())).toThrow('existing mount at kv/');
  });

  it('issues leased credentials from a database mount', async () => {
    vault.root.mount('database', new FakeDatabase());
    const answer = await answerOf(client(vault.rootToken).read('database/creds/readonly'));
    expectForm(answer, { lease_id: 'database/creds/readonly/1', lease_duration: 3600, data: { username: '' } });
    expect(await refusalOf(client(vault.rootToken).read('nowhere/x'))).toMatch(/^404 no handler for route/);
  });
});

describe('policies', () => {
  it.each([
    ['secret/data/team-a/db', true],
    ['secret/data/team-a/private/db', false],
    ['secret/data/team-b/db', false],
    ['secret/data/team-b/public', true],
    ['kv/team-c/shared/db', true],
    ['kv/team-c/other/db', false],
  ])('applies the policy to %s: allowed %s', async (path, allowed) => {
    vault.root.writePolicy('mixed', {
      'secret/data/team-a/*': ['read'],
      'secret/data/team-a/private/*': ['deny'],
      'secret/data/team-b/public': ['read'],
      'kv/+/shared/*': ['read'],
    });
    const refusal = await refusalOf(client(vault.root.createToken({ policies: ['mixed'] })).read(path));
    expect(refusal.startsWith('404')).toBe(allowed);
    expect(refusal.startsWith('403 1 error occurred')).toBe(!allowed);
  });

  it('lets a reader read but not write', async () => {
    kv1.put('db', { password: 'one' });
    const reader = client(vault.root.createToken({ policies: ['reader'] }));
    await reader.read('kv/db');
    expect(await refusalOf(reader.write('kv/db', { password: 'two' }))).toMatch(/^403 1 error occurred/);
  });
});

describe('tokens', () => {
  it('answers a token lookup as documented', async () => {
    const answer = await answerOf(client(vault.root.createToken({ policies: ['reader'] })).tokenLookupSelf());
    expectForm(answer['data'], {
      accessor: '',
      creation_time: 1,
      creation_ttl: 1,
      display_name: '',
      entity_id: '',
      expire_time: '',
      explicit_max_ttl: 0,
      id: '',
      issue_time: '',
      num_uses: 0,
      orphan: true,
      path: '',
      policies: [],
      renewable: true,
      ttl: 1,
    });
  });

  it('answers a token creation as documented', async () => {
    const answer = await answerOf(client(vault.rootToken).tokenCreate({ policies: ['reader'] }));
    expectForm(answer['auth'], {
      client_token: '',
      accessor: '',
      policies: [],
      token_policies: [],
      metadata: null,
      lease_duration: 3600,
      renewable: true,
      entity_id: '',
      token_type: 'service',
      orphan: false,
      num_uses: 0,
    });
  });

  it('expires tokens, and renews them up to their maximum life', async () => {
    const token = client(vault.root.createToken({ ttlSeconds: 60, maxTtlSeconds: 100 }));
    clock.advance(50_000);
    expect(await token.tokenRenewSelf()).toMatchObject({ auth: { lease_duration: 50, renewable: true } });
    clock.advance(40_000);
    expect(await token.tokenLookupSelf()).toMatchObject({ data: { ttl: 10 } });
    expect(await token.tokenRenewSelf()).toMatchObject({ auth: { lease_duration: 10 }, warnings: [expect.anything()] });
    clock.advance(10_001);
    expect(await refusalOf(token.tokenLookupSelf())).toMatch(/^403 2 errors occurred:[^]*invalid token/);
  });

  it('refuses to renew tokens that are not renewable', async () => {
    const fixed = client(vault.root.createToken({ renewable: false }));
    expect(await refusalOf(fixed.tokenRenewSelf())).toBe('400 lease is not renewable');
    const batch = client(vault.root.createToken({ type: 'batch' }));
    expect(await refusalOf(batch.tokenRenewSelf())).toBe('400 batch tokens cannot be renewed');
    const bare = client(vault.root.createToken({ noDefaultPolicy: true }));
    expect(await refusalOf(bare.tokenRenewSelf())).toMatch(/^403 1 error occurred/);
  });

  it('counts the uses of a token, but not for lookups of mounts', async () => {
    kv1.put('db', { password: 'one' });
    const token = client(vault.root.createToken({ policies: ['reader'], numUses: 2 }));
    await token.read('sys/internal/ui/mounts/kv/db');
    await token.read('kv/db');
    await token.read('kv/db');
    expect(await refusalOf(token.read('kv/db'))).toMatch(/^403 2 errors occurred/);
  });

  it('rejects a revoked token', async () => {
    const token = client(vault.root.createToken({}));
    await token.tokenRevokeSelf();
    expect(await refusalOf(token.tokenLookupSelf())).toMatch(/^403 2 errors occurred/);
  });

  it('rejects requests without a token or with an unknown token', async () => {
    expect(await refusalOf(client().read('kv/db'))).toBe('403 permission denied');
    expect(await refusalOf(client('hvs.nobody-has-this-one').read('kv/db'))).toMatch(/^403 2 errors occurred/);
  });
});

describe('AppRole', () => {
  it('answers an AppRole login as documented with a token that can read', async () => {
    kv1.put('db', { password: 'one' });
    vault.root.enableAuth('approle', new FakeAppRole()).addRole('role-1', 'secret-1', { policies: ['reader'] });
    const app = client();
    const answer = await answerOf(app.approleLogin({ role_id: 'role-1', secret_id: 'secret-1' }));
    expectForm(answer, {
      auth: {
        renewable: true,
        lease_duration: 1200,
        metadata: null,
        token_policies: ['default'],
        accessor: '',
        client_token: '',
      },
      warnings: null,
      wrap_info: null,
      data: null,
      lease_duration: 0,
      renewable: false,
      lease_id: '',
    });
    expect(await app.read('kv/db')).toMatchObject({ data: { password: 'one' } });
  });

  it('refuses wrong or used AppRole secrets and other mounts', async () => {
    vault.root.enableAuth('approle', new FakeAppRole()).addRole('role-1', 'secret-1', {}, 1);
    const login = (role_id: string, secret_id: string): Promise<string> =>
      refusalOf(client().approleLogin({ role_id, secret_id }));
    expect(await login('role-1', 'secret-2')).toBe('400 invalid role or secret ID');
    expect(await login('role-2', 'secret-1')).toBe('400 invalid role or secret ID');
    expect(await login('role-1', 'secret-1')).toMatch(/it was not refused/);
    expect(await login('role-1', 'secret-1')).toBe('400 invalid role or secret ID');
    expect(await refusalOf(client().write('auth/other/login', {}))).toMatch(/^404 no handler for route/);
  });
});

describe('tokens of other issuers', () => {
  let privateKey: CryptoKey;

  function sign(claims: JsonObject, key = privateKey): Promise<string> {
    return new SignJWT({ aud: 'vault', sub: 'system:serviceaccount:gateways:tollgate', ...claims })
      .setProtectedHeader({ alg: 'ES256' })
      .setExpirationTime(Math.floor(now() / 1_000) + 600)
      .sign(key);
  }

  const account = { 'kubernetes.io': { namespace: 'gateways', serviceaccount: { name: 'tollgate', uid: 'u-1' } } };
  const grant = { policies: ['reader'] };

  beforeEach(async () => {
    const pair = await generateKeyPair('ES256');
    ({ privateKey } = pair);
    vault.root.enableAuth('jwt', new FakeJwt(pair.publicKey)).addRole('ci', { audience: 'vault', grant });
    vault.root
      .enableAuth('kubernetes', new FakeKubernetes(pair.publicKey))
      .addRole('gateway', { serviceAccount: 'tollgate', namespace: 'gateways', grant });
  });

  it('issues tokens for JWT and Kubernetes logins that can read', async () => {
    kv1.put('db', { password: 'one' });
    for (const login of ['jwtLogin', 'kubernetesLogin'] as const) {
      const app = client();
      const [role, mount_point] = login === 'jwtLogin' ? ['ci', 'jwt'] : ['gateway', 'kubernetes'];
      const answer = await answerOf(app[login]({ role, mount_point, jwt: await sign(account) }));
      readString(readObject(answer['auth'], 'auth')['client_token'], 'client_token');
      expect(await app.read('kv/db')).toMatchObject({ data: { password: 'one' } });
    }
  });

  it('answers a Kubernetes login as documented', async () => {
    const answer = await answerOf(
      client().kubernetesLogin({ mount_point: 'kubernetes', role: 'gateway', jwt: await sign(account) }),
    );
    expectForm(answer['auth'], {
      client_token: '',
      accessor: '',
      policies: ['default'],
      metadata: {
        role: '',
        service_account_name: '',
        service_account_namespace: '',
        service_account_secret_name: '',
        service_account_uid: '',
      },
      lease_duration: 2764800,
      renewable: true,
    });
  });

  it('refuses a JWT with another key, audience, time or account', async () => {
    const stranger = await generateKeyPair('ES256');
    const jwt = async (token: Promise<string>): Promise<string> =>
      refusalOf(client().jwtLogin({ role: 'ci', jwt: await token }));
    expect(await jwt(sign({}, stranger.privateKey))).toMatch(/^400 error validating token/);
    expect(await jwt(sign({ aud: 'somebody' }))).toMatch(/^400 error validating token/);
    const late = sign({});
    clock.advance(700_000);
    expect(await jwt(late)).toMatch(/^400 error validating token/);
    expect(await refusalOf(client().jwtLogin({ role: 'nobody', jwt: await sign({}) }))).toMatch(/^400 role "nobody"/);

    const kubernetes = async (token: Promise<string>): Promise<string> =>
      refusalOf(client().kubernetesLogin({ mount_point: 'kubernetes', role: 'gateway', jwt: await token }));
    expect(await kubernetes(sign(account, stranger.privateKey))).toBe('403 permission denied');
    expect(await kubernetes(sign({ 'kubernetes.io': { namespace: 'other' } }))).toBe('403 namespace not authorized');
    const other = { 'kubernetes.io': { namespace: 'gateways', serviceaccount: { name: 'other' } } };
    expect(await kubernetes(sign(other))).toBe('403 service account name not authorized');
    expect(
      await refusalOf(
        client().kubernetesLogin({ mount_point: 'kubernetes', role: 'unknown', jwt: await sign(account) }),
      ),
    ).toBe('400 invalid role name "unknown"');
  });
});

describe('namespaces', () => {
  it('separates mounts, policies and tokens of namespaces', async () => {
    const team = vault.namespace('team-a');
    team.mount('kv', new FakeKvV1()).put('db', { password: 'of team a' });
    team.writePolicy('reader', { 'kv/*': ['read'] });
    kv1.put('db', { password: 'of root' });
    const token = team.createToken({ policies: ['reader'] });
    expect(await client(token, 'team-a').read('kv/db')).toMatchObject({ data: { password: 'of team a' } });
    expect(await refusalOf(client(token).read('kv/db'))).toMatch(/^403 2 errors occurred/);
    expect(await refusalOf(client(token, 'team-b').read('kv/db'))).toMatch(/^404/);
    const rootReader = vault.root.createToken({ policies: ['reader'] });
    expect(await refusalOf(client(rootReader, 'team-a').read('kv/db'))).toMatch(/^403 2 errors occurred/);
  });
});

describe('simulated failures', () => {
  it.each([
    ['sealed', 503, 'Vault is sealed'],
    ['lagging', 412, 'required index state not present'],
    ['throttled', 429, 'rate limit quota exceeded'],
    ['broken', 500, 'internal error'],
  ] as const)('simulates %s: answers %i the given number of times', async (fault, status, text) => {
    vault.fail(fault, { times: 1 });
    const root = client(vault.rootToken);
    const refusal = await refusalOf(root.read('kv/db'));
    expect(refusal).toContain(`${status} `);
    expect(refusal).toContain(text);
    expect(await refusalOf(root.read('kv/db'))).toMatch(/^404/);
  });

  it('simulates redirects and HTML pages on the given paths', async () => {
    vault.fail('redirect', { on: /^kv\// });
    const answer = await fetch(`${vault.addr}/v1/kv/db`, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([307, 'http://169.254.169.254/v1/sys/leader']);
    expect((await fetch(`${vault.addr}/v1/sys/health`)).status).toBe(200);
    vault.fail('html');
    expect(await (await fetch(`${vault.addr}/v1/kv/db`)).text()).toContain('<html>');
    vault.heal();
    expect((await fetch(`${vault.addr}/v1/kv/db`)).status).toBe(403);
  });

  it('records the requests that reached it', async () => {
    await refusalOf(client(vault.rootToken).read('kv/db'));
    expect(vault.calls).toMatchObject([{ method: 'GET', path: 'kv/db', token: vault.rootToken, status: 404 }]);
    vault.forget();
    expect(vault.paths()).toEqual([]);
  });
});
