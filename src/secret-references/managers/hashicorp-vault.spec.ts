import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from 'jose';
import { FakeAppRole, FakeJwt, FakeKubernetes } from '../../../test/support/fake-vault-auth.js';
import { FakeDatabase, FakeKvV1, FakeKvV2 } from '../../../test/support/fake-vault-kv.js';
import { selfSignedCertificate } from '../../upstream/__fixtures__/certificate.js';
import { codeOf, ORGANISATION, ROLE_ID, SECRET_ID, secretErrorOf, VaultScene } from './__fixtures__/vault.js';
import type { HashicorpVault } from './hashicorp-vault.js';
import type { AuthConfig, SecretRequest } from './secret-manager.types.js';

let scene: VaultScene;
let manager: HashicorpVault;

beforeEach(async () => {
  scene = await VaultScene.start();
  scene.allowLogin();
  manager = scene.manager();
});

afterEach(async () => {
  await manager.close();
  await scene.vault.close();
});

const ONE = { kind: 'fields', fields: { password: 'one' } };
const TWO = { kind: 'fields', fields: { password: 'two' } };

describe('with a token', () => {
  it('reads with a token without a login, and marks its requests', async () => {
    const token = scene.vault.root.createToken({ policies: ['reader'] });
    expect(await manager.fetch(scene.tokenRequest(token))).toEqual(TWO);
    expect(scene.vault.paths()).toEqual(['sys/internal/ui/mounts/secret/db', 'secret/data/db']);
    for (const { headers } of scene.vault.calls) {
      expect(headers).toMatchObject({ 'x-vault-token': token, 'x-vault-request': 'true' });
      expect(headers).not.toHaveProperty('x-vault-namespace');
    }
  });

  it('does not log in when a given token is refused', async () => {
    expect(await codeOf(manager.fetch(scene.tokenRequest('hvs.unknown-token')))).toBe('authentication_failed');
    const weak = scene.vault.root.createToken({});
    expect(await codeOf(manager.fetch(scene.tokenRequest(weak)))).toBe('access_denied');
    expect(scene.vault.paths().filter((path) => path.startsWith('auth/'))).toEqual([]);
  });
});

describe('with an AppRole', () => {
  it('logs in with an AppRole and reads', async () => {
    expect(await manager.fetch(scene.request())).toEqual(TWO);
    expect(scene.vault.calls[0]).toMatchObject({
      method: 'POST',
      path: 'auth/approle/login',
      token: undefined,
      body: { role_id: ROLE_ID, secret_id: SECRET_ID },
    });
  });

  it.each(['gateways/approle', 'gateways/approle/'])(
    'logs in with an AppRole at another mount: %s',
    async (vendorC_auth_mount) => {
      scene.vault.root.enableAuth('gateways/approle', new FakeAppRole()).addRole('r', 's', { policies: ['reader'] });
      const config = { vendorC_auth_mount, vendorC_role_id: 'r', vendorC_secret_id: 's' };
      expect(await manager.fetch(scene.request({}, config))).toEqual(TWO);
    },
  );

  it.each([
    ['another secret id', { vendorC_secret_id: 'wrong' }],
    ['another role', { vendorC_role_id: 'wrong' }],
    ['a mount that does not exist', { vendorC_auth_mount: 'nowhere' }],
  ])('fails to log in with %s', async (_what, config) => {
    expect(await codeOf(manager.fetch(scene.request({}, config)))).toBe('authentication_failed');
    expect(scene.vault.calls).toHaveLength(1);
  });
});

describe('with a signed token', () => {
  const grant = { policies: ['reader'] };
  let keys: { readonly privateKey: CryptoKey; readonly publicKey: CryptoKey };

  function sign(claims: JWTPayload): Promise<string> {
    return new SignJWT({ sub: 'system:serviceaccount:gateways:tollgate', ...claims })
      .setProtectedHeader({ alg: 'ES256' })
      .setExpirationTime('10m')
      .sign(keys.privateKey);
  }

  beforeEach(async () => {
    keys = await generateKeyPair('ES256');
  });

  describe('of its own (jwt)', () => {
    const request = (jwt: string, role = 'ci'): SecretRequest =>
      scene.request({ authConfig: { ...base(), vendorC_auth_type: 'jwt', vendorC_role: role, vendorC_jwt: jwt } });
    const base = (): AuthConfig => ({ vendorC_addr: scene.vault.addr });

    beforeEach(() => {
      scene.vault.root.enableAuth('jwt', new FakeJwt(keys.publicKey)).addRole('ci', { audience: 'vault', grant });
    });

    it('logs in with a JSON Web Token and reads', async () => {
      const jwt = await sign({ aud: 'vault' });
      expect(await manager.fetch(request(jwt))).toEqual(TWO);
      expect(scene.vault.calls[0]).toMatchObject({ path: 'auth/jwt/login', body: { role: 'ci', jwt } });
    });

    it('fails to log in for another audience or role', async () => {
      expect(await codeOf(manager.fetch(request(await sign({ aud: 'other' }))))).toBe('authentication_failed');
      expect(await codeOf(manager.fetch(request(await sign({ aud: 'vault' }), 'x')))).toBe('authentication_failed');
    });
  });

  describe("of the gateway's pod (kubernetes)", () => {
    let folder: string;
    let file: string;
    const claims = { 'kubernetes.io': { namespace: 'gateways', serviceaccount: { name: 'tollgate', uid: 'u' } } };
    const request = (changes: AuthConfig = {}, organisationId = ORGANISATION): SecretRequest => ({
      ...scene.request({ organisationId }),
      authConfig: {
        vendorC_auth_type: 'kubernetes',
        vendorC_addr: scene.vault.addr,
        vendorC_role: 'gateway',
        ...changes,
      },
    });

    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'vault-'));
      file = join(folder, 'token');
      await writeFile(file, `${await sign(claims)}\n`);
      const role = { serviceAccount: 'tollgate', namespace: 'gateways', grant };
      scene.vault.root.enableAuth('kubernetes', new FakeKubernetes(keys.publicKey)).addRole('gateway', role);
      manager = scene.manager({ serviceAccountTokenPath: file });
    });

    afterEach(() => rm(folder, { recursive: true }));

    it('logs in with the service account token that the file has at that moment', async () => {
      expect(await manager.fetch(request())).toEqual(TWO);
      expect(scene.vault.calls[0]).toMatchObject({
        path: 'auth/kubernetes/login',
        body: { role: 'gateway', jwt: expect.not.stringMatching(/\s/) },
      });
      await writeFile(file, await sign({ ...claims, jti: 'second' }));
      scene.clock.advance(1_300_000);
      // The double's clock has moved past the end of the token as well.
      expect(await codeOf(manager.fetch(request()))).toBe('authentication_failed');
      const [first, last] = scene.vault.calls.filter(({ path }) => path === 'auth/kubernetes/login');
      expect(first?.body['jwt']).not.toEqual(last?.body['jwt']);
    });

    it('fails without a service account token outside of Kubernetes', async () => {
      await rm(file);
      expect(await codeOf(manager.fetch(request()))).toBe('authentication_failed');
      expect(scene.vault.calls).toEqual([]);
    });
  });
});

describe('key/value engines', () => {
  it.each([
    ['version 1', 'kv/db', ONE],
    ['version 2 by its name', 'secret/db', TWO],
    ['version 2 by its API path', 'secret/data/db', TWO],
  ])('recognises key/value engines of %s', async (_what, path, expected) => {
    expect(await manager.fetch(scene.request({ path }))).toEqual(expected);
  });

  it('recognises key/value engines of several path segments', async () => {
    scene.vault.root.mount('team/a/kv', new FakeKvV2(() => 0)).put('x/y', { password: 'deep' });
    scene.vault.root.mount('team/b', new FakeKvV1()).put('data/y', { password: 'flat' });
    scene.vault.root.writePolicy('reader', { 'team/*': ['read'] });
    for (const path of ['team/a/kv/x/y', 'team/a/kv/data/x/y']) {
      expect(await manager.fetch(scene.request({ path }))).toMatchObject({ fields: { password: 'deep' } });
    }
    expect(await manager.fetch(scene.request({ path: 'team/b/data/y' }))).toMatchObject({
      fields: { password: 'flat' },
    });
  });

  it('looks up a key/value engine once', async () => {
    scene.kv2.put('other', { password: 'three' });
    await manager.fetch(scene.request());
    await manager.fetch(scene.request({ path: 'secret/data/other' }));
    expect(scene.vault.paths()).toEqual([
      'auth/approle/login',
      'sys/internal/ui/mounts/secret/db',
      'secret/data/db',
      'secret/data/other',
    ]);
  });

  it('looks up a key/value engine again when it was replaced', async () => {
    await manager.fetch(scene.request({ path: 'kv/db' }));
    const upgraded = new FakeKvV2(() => 0);
    scene.vault.root.mounts.set('kv/', upgraded);
    upgraded.put('db', { password: 'upgraded' });
    expect(await manager.fetch(scene.request({ path: 'kv/db' }))).toMatchObject({ fields: { password: 'upgraded' } });
    scene.vault.root.mounts.set('kv/', scene.kv1);
    expect(await manager.fetch(scene.request({ path: 'kv/db' }))).toEqual(ONE);
  });

  it('reads values of any kind, and names of any characters', async () => {
    const fields = { text: 'a', number: 1, list: [true], nothing: null, object: { b: 'c' } };
    scene.kv2.put('a b/ü%2e+&=', fields);
    expect(await manager.fetch(scene.request({ path: 'secret/a b/ü%2e+&=' }))).toEqual({ kind: 'fields', fields });
  });

  it('reads from no other engine than key/value', async () => {
    const database = scene.vault.root.mount('database', new FakeDatabase());
    scene.vault.root.writePolicy('reader', { 'database/*': ['read'] });
    expect(await codeOf(manager.fetch(scene.request({ path: 'database/creds/x' })))).toBe('invalid_request');
    expect(database.made).toBe(0);
    scene.vault.hidesMounts = true;
    expect(await codeOf(manager.fetch(scene.request({ path: 'database/creds/x' })))).toBe('invalid_request');
  });

  it.each(['secret/../sys/leader', '/v1/secret/db', '/secret/db', 'secret//db', 'secret', 'secret/db?version=1'])(
    'sends no request for the path %s',
    async (path) => {
      expect(await codeOf(manager.fetch(scene.request({ path })))).toBe('invalid_request');
      expect(scene.vault.calls).toEqual([]);
    },
  );
});

describe('when mounts may not be looked up', () => {
  beforeEach(() => {
    scene.vault.hidesMounts = true;
  });

  it.each([
    ['version 1', 'kv/db', ONE, ['kv/db']],
    ['version 2 by its API path', 'secret/data/db', TWO, ['secret/data/db']],
    ['version 2 by its name', 'secret/db', TWO, ['secret/db', 'secret/data/db']],
  ])('guesses %s when it may not look up mounts, and remembers what worked', async (_what, path, expected, tried) => {
    const probe = `sys/internal/ui/mounts/${path}`;
    expect(await manager.fetch(scene.request({ path }))).toEqual(expected);
    expect(await manager.fetch(scene.request({ path }))).toEqual(expected);
    expect(scene.vault.paths()).toEqual(['auth/approle/login', probe, ...tried, probe, tried.at(-1)]);
  });

  it('distinguishes versions 1 and 2 by the answer', async () => {
    scene.kv1.put('data/odd', { data: { a: 1 }, metadata: 'mine' });
    expect(await manager.fetch(scene.request({ path: 'kv/data/odd' }))).toMatchObject({ fields: { metadata: 'mine' } });
  });

  it('reads a version only from engines that have versions', async () => {
    scene.kv2.put('db', { password: 'three' });
    expect(await manager.fetch(scene.request({ version: '1' }))).toEqual(TWO);
    expect(await codeOf(manager.fetch(scene.request({ path: 'kv/none', version: '1' })))).toBe('not_found');
  });

  it('reports the most exact failure when it may not look up mounts', async () => {
    expect(await codeOf(manager.fetch(scene.request({ path: 'secret/none' })))).toBe('not_found');
    expect(await codeOf(manager.fetch(scene.request({ path: 'elsewhere/db' })))).toBe('access_denied');
    scene.vault.root.writePolicy('reader', { 'kv/none': ['read'], 'secret/data/*': ['read'] });
    expect(await codeOf(manager.fetch(scene.request({ path: 'kv/none' })))).toBe('not_found');
    scene.kv2.softDelete('db', 1);
    expect(await codeOf(manager.fetch(scene.request()))).toBe('deleted');
  });
});

describe('vendorC_kv_version', () => {
  it.each([
    ['1', 'kv/db', ONE, 'kv/db'],
    ['2', 'secret/db', TWO, 'secret/data/db'],
    ['2', 'secret/data/db', TWO, 'secret/data/db'],
  ])('needs with vendorC_kv_version %s no look-up of %s', async (vendorC_kv_version, path, expected, read) => {
    expect(await manager.fetch(scene.request({ path }, { vendorC_kv_version }))).toEqual(expected);
    expect(scene.vault.paths()).toEqual(['auth/approle/login', read]);
  });

  describe('2, for a mount of several segments', () => {
    const DEEP = { kind: 'fields', fields: { password: 'deep' } };
    const deep = (path = 'team/kv/x'): SecretRequest => scene.request({ path }, { vendorC_kv_version: '2' });

    beforeEach(() => {
      scene.vault.root.mount('team/kv', new FakeKvV2(() => 0)).put('x', { password: 'deep' });
      scene.vault.root.writePolicy('reader', { 'team/kv/data/*': ['read'], 'secret/data/*': ['read'] });
    });

    it('looks up a mount of several segments once, when the guess is refused', async () => {
      expect(await manager.fetch(deep())).toEqual(DEEP);
      expect(await manager.fetch(deep())).toEqual(DEEP);
      const [login, probe, read] = ['auth/approle/login', 'sys/internal/ui/mounts/team/kv/x', 'team/kv/data/x'];
      expect(scene.vault.paths()).toEqual([login, 'team/data/kv/x', probe, read, read]);
    });

    it('looks up a mount of several segments for a token that may read every path', async () => {
      scene.vault.root.writePolicy('reader', { '*': ['read'] });
      expect(await manager.fetch(deep())).toEqual(DEEP);
    });

    it('needs no look-up of the API path', async () => {
      scene.vault.hidesMounts = true;
      expect(await manager.fetch(deep('team/kv/data/x'))).toEqual(DEEP);
      expect(scene.vault.paths()).toEqual(['auth/approle/login', 'team/kv/data/x']);
      expect(await codeOf(manager.fetch(deep()))).toBe('access_denied');
    });

    it('reports the same failure each time for a mount of several segments', async () => {
      for (let round = 0; round < 2; round += 1) {
        expect(await codeOf(manager.fetch(deep('team/kv/none')))).toBe('not_found');
        expect(await codeOf(manager.fetch(deep('secret/none')))).toBe('not_found');
        expect(await codeOf(manager.fetch(deep('kv/db')))).toBe('access_denied');
      }
      scene.vault.tokens.revokeAll();
      scene.vault.forget();
      expect(await manager.fetch(deep())).toEqual(DEEP);
    });
  });

  it('finds nothing with a wrong vendorC_kv_version, and has no versions in version 1', async () => {
    const code = (config: AuthConfig, version?: string): Promise<string> =>
      codeOf(manager.fetch(scene.request({ path: 'kv/db', version }, config)));
    expect(await code({ vendorC_kv_version: '2' })).toBe('not_found');
    expect(await code({ vendorC_kv_version: '2' })).toBe('not_found');
    expect(await code({ vendorC_kv_version: '1' }, '1')).toBe('invalid_request');
  });
});

describe('versions', () => {
  it('reads a version by its number, and the current one without a number', async () => {
    scene.kv2.put('db', { password: 'three' });
    expect(await manager.fetch(scene.request({ version: '1' }))).toEqual(TWO);
    expect(await manager.fetch(scene.request())).toMatchObject({ fields: { password: 'three' } });
  });

  it('distinguishes deleted and destroyed versions from those that never existed', async () => {
    scene.kv2.put('db', { password: 'three' });
    scene.kv2.softDelete('db', 1);
    scene.kv2.destroy('db', 2);
    expect(await codeOf(manager.fetch(scene.request({ version: '1' })))).toBe('deleted');
    expect(await codeOf(manager.fetch(scene.request({ version: '2' })))).toBe('deleted');
    expect(await codeOf(manager.fetch(scene.request({ version: '3' })))).toBe('not_found');
    expect(await codeOf(manager.fetch(scene.request({ path: 'secret/none' })))).toBe('not_found');
    expect(await codeOf(manager.fetch(scene.request({ path: 'kv/db', version: '1' })))).toBe('invalid_request');
    scene.kv2.undelete('db', 1);
    expect(await manager.fetch(scene.request({ version: '1' }))).toEqual(TWO);
  });
});

describe('namespaces', () => {
  beforeEach(() => {
    const team = scene.vault.namespace('team-a/dev');
    team.mount('secret', new FakeKvV2(() => 0)).put('db', { password: 'of team a' });
    team.writePolicy('reader', { 'secret/*': ['read'] });
    team.enableAuth('approle', new FakeAppRole()).addRole(ROLE_ID, SECRET_ID, { policies: ['reader'] });
  });

  it('separates namespaces with the same credentials at the same address', async () => {
    expect(await manager.fetch(scene.request())).toEqual(TWO);
    const inside = scene.request({}, { vendorC_namespace: 'team-a/dev' });
    expect(await manager.fetch(inside)).toMatchObject({ fields: { password: 'of team a' } });
    expect(scene.count('auth/approle/login')).toBe(2);
    expect(scene.vault.calls.map(({ namespace }) => namespace)).toEqual(['', '', '', ...Array(3).fill('team-a/dev')]);
  });

  it('refuses the credentials of another namespace', async () => {
    const elsewhere = scene.request({}, { vendorC_namespace: 'team-b' });
    expect(await codeOf(manager.fetch(elsewhere))).toBe('authentication_failed');
    const token = scene.vault.root.createToken({ policies: ['reader'] });
    const foreign = scene.tokenRequest(token, {}, { vendorC_namespace: 'team-a/dev' });
    expect(await codeOf(manager.fetch(foreign))).toBe('authentication_failed');
  });
});

describe('TLS', () => {
  const certificate = selfSignedCertificate('localhost');
  const other = selfSignedCertificate('localhost');
  const third = selfSignedCertificate('vault.example.com');
  let secure: VaultScene;

  beforeEach(async () => {
    secure = await VaultScene.start(certificate);
    secure.allowLogin();
  });

  afterEach(() => secure.vault.close());

  it.each([
    ['the authority of the server', certificate.cert],
    ['several, of which one is it', third.cert + certificate.cert],
  ])('trusts a server with %s', async (_what, vendorC_ca_cert) => {
    expect(secure.vault.addr).toMatch(/^https:/);
    expect(await manager.fetch(secure.request({}, { vendorC_ca_cert }))).toEqual(TWO);
  });

  it.each([
    ['none', undefined],
    ['another', other.cert],
    ['another host', third.cert],
  ])('refuses a server with the certificate authority %s, and sends nothing', async (_what, cert) => {
    const config: AuthConfig = cert === undefined ? {} : { vendorC_ca_cert: cert };
    await manager.fetch(secure.request({}, { vendorC_ca_cert: certificate.cert }));
    secure.vault.forget();
    expect(await codeOf(manager.fetch(secure.request({}, config)))).toBe('unreachable');
    expect(secure.vault.calls).toEqual([]);
  });
});

describe('egress', () => {
  it.each(['https://169.254.169.254', 'https://127.0.0.1:8200', 'https://localhost', 'http://vault.example.com'])(
    'refuses by egress rules the address %s',
    async (vendorC_addr) => {
      const guarded = scene.manager({ egress: [] });
      expect(await codeOf(guarded.fetch(scene.request({}, { vendorC_addr })))).toBe('refused_by_egress');
    },
  );

  it('follows no redirect, wherever it leads', async () => {
    scene.vault.fail('redirect');
    const error = await secretErrorOf(manager.fetch(scene.request()));
    expect(error).toMatchObject({
      code: 'invalid_response',
      detail: 'the address redirects; name the active node or a load balancer',
    });
    expect(scene.vault.calls).toHaveLength(1);
  });
});
