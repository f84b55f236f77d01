import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLogger } from '../../telemetry/logger.js';
import { UpstreamFailure } from '../../upstream/upstream.types.js';
import { closedPort, startHttp, type Loopback } from '../../upstream/__fixtures__/loopback.js';
import { codeOf, SECRET_ID, secretErrorOf, VaultScene } from './__fixtures__/vault.js';
import type { HashicorpVault } from './hashicorp-vault.js';
import type { AuthConfig } from './secret-manager.types.js';

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

describe('a Vault that fails', () => {
  it.each([
    ['sealed', 'sealed'],
    ['throttled', 'throttled'],
    ['broken', 'manager_failed'],
    ['html', 'invalid_response'],
    ['redirect', 'invalid_response'],
    ['silent', 'timeout'],
  ] as const)('a Vault that is %s fails with %s', async (fault, code) => {
    for (const on of [/login$/, /^sys/, /^secret/]) {
      scene.vault.fail(fault, { on });
      const other = scene.manager(fault === 'silent' ? { timeoutMs: 500 } : {});
      expect(await codeOf(other.fetch(scene.request()))).toBe(code);
    }
    scene.vault.heal();
    expect(await manager.fetch(scene.request())).toMatchObject({ fields: { password: 'two' } });
  });

  it('asks a Vault that lags behind again, for a while', async () => {
    scene.vault.fail('lagging', { times: 2, on: /^secret/ });
    expect(await manager.fetch(scene.request())).toMatchObject({ fields: { password: 'two' } });
    expect(scene.count('secret/data/db')).toBe(3);
    scene.vault.fail('lagging', { on: /^secret/ });
    expect(await codeOf(manager.fetch(scene.request()))).toBe('manager_failed');
    expect(scene.count('secret/data/db')).toBe(6);
  });

  it('fails when Vault is not reachable', async () => {
    const vendorC_addr = `http://127.0.0.1:${await closedPort()}`;
    const error = await secretErrorOf(manager.fetch(scene.request({}, { vendorC_addr })));
    expect(error.code).toBe('unreachable');
    expect(error.detail).toContain('ECONNREFUSED');
    expect(error.cause).toBeInstanceOf(UpstreamFailure);
  });

  it('fails when Vault sends too much', async () => {
    scene.kv2.put('large', { text: 'x'.repeat(2 * 1024 * 1024) });
    expect(await codeOf(manager.fetch(scene.request({ path: 'secret/large' })))).toBe('too_large');
  });
});

describe('answers', () => {
  const AUTH = '{"auth":{"client_token":"hvs.abc","lease_duration":60,"renewable":true}}';
  const MOUNT = '{"data":{"path":"secret/","type":"kv","options":{"version":"2"}}}';
  const SECRET = '{"data":{"data":{"a":"b"},"metadata":{"version":1}}}';
  type Step = 'login' | 'renewal' | 'probe' | 'read';
  const STEPS: readonly (readonly [string, Step])[] = [
    ['/login', 'login'],
    ['/renew-self', 'renewal'],
    ['/sys/', 'probe'],
  ];
  let server: Loopback;
  let answers: Record<Step, readonly [number, string]>;

  beforeEach(async () => {
    answers = { login: [200, AUTH], renewal: [200, AUTH], probe: [200, MOUNT], read: [200, SECRET] };
    server = await startHttp((request, response: ServerResponse) => {
      const path = request.url ?? '';
      const step = STEPS.find(([part]) => path.includes(part))?.[1] ?? 'read';
      const [status, text] = answers[step];
      response.writeHead(status).end(text);
    });
  });

  afterEach(() => server.close());

  const fetch = (config: AuthConfig = {}): Promise<unknown> =>
    manager.fetch(scene.request({}, { vendorC_addr: server.origin, ...config }));

  it('reads valid answers of Vault below any path prefix', async () => {
    expect(await fetch({ vendorC_addr: `${server.origin}/behind/proxy/` })).toMatchObject({ fields: { a: 'b' } });
    expect(server.requests.map(({ url }) => url)).toEqual([
      '/behind/proxy/v1/auth/approle/login',
      '/behind/proxy/v1/sys/internal/ui/mounts/secret/db',
      '/behind/proxy/v1/secret/data/db',
    ]);
  });

  it.each<[Step, number, string, string]>([
    ['login', 200, '', 'invalid_response'],
    ['login', 200, '[]', 'invalid_response'],
    ['login', 200, '{"auth":null}', 'invalid_response'],
    ['login', 200, '{"auth":{"client_token":"","lease_duration":60}}', 'invalid_response'],
    ['login', 200, '{"auth":{"client_token":"a\\nb","lease_duration":60}}', 'invalid_response'],
    ['login', 200, '{"auth":{"client_token":"abc","lease_duration":"60"}}', 'invalid_response'],
    ['login', 400, '{"errors":["invalid role or secret ID"]}', 'authentication_failed'],
    ['login', 403, '<html>', 'invalid_response'],
    ['probe', 200, '{"data":{}}', 'invalid_response'],
    ['probe', 200, '{"data":{"path":"","type":"kv"}}', 'invalid_response'],
    ['probe', 200, '{"data":{"path":"secret/","type":"transit"}}', 'invalid_request'],
    ['probe', 200, '{"data":{"path":"other/","type":"transit"}}', 'invalid_request'],
    ['read', 200, '{"data":null}', 'invalid_response'],
    ['read', 200, SECRET.replace('"b"', '['.repeat(100) + ']'.repeat(100)), 'invalid_response'],
    ['read', 200, '{"data":{"data":"text","metadata":{"version":1}}}', 'invalid_response'],
    ['read', 200, '{"data":{"data":null,"metadata":{"version":1}}}', 'deleted'],
    ['read', 404, '{"errors":[]}', 'not_found'],
    ['read', 404, '{"data":{"data":null,"metadata":{"version":1}}}', 'deleted'],
    ['read', 404, 'not found', 'invalid_response'],
    ['read', 400, '{"errors":["missing client token"]}', 'invalid_request'],
    ['read', 401, '{"errors":["who are you"]}', 'authentication_failed'],
    ['read', 403, '{"errors":["permission denied"]}', 'access_denied'],
    ['read', 405, '{"errors":["unsupported operation"]}', 'invalid_request'],
    ['read', 418, '{}', 'manager_failed'],
    ['read', 429, 'slow down', 'throttled'],
    ['read', 502, '<html>bad gateway</html>', 'manager_failed'],
    ['read', 503, '<html>no healthy upstream</html>', 'manager_failed'],
    ['read', 503, '{"errors":["OpenBao is sealed"]}', 'sealed'],
  ])('maps the answer to a %s with %i %s to %s', async (step, status, text, code) => {
    answers[step] = [status, text];
    expect(await codeOf(fetch())).toBe(code);
  });

  it.each([403, 404, 405])('guesses the path when the look-up of the mount returns %i', async (status) => {
    answers.probe = [status, '{"errors":[]}'];
    expect(await fetch()).toMatchObject({ fields: { a: 'b' } });
  });

  it('guesses the path when the look-up returns a mount that the path does not begin with, as in a namespace', async () => {
    const read = (path: string): Promise<unknown> =>
      manager.fetch(scene.request({ path }, { vendorC_addr: server.origin }));
    expect(await read('team/secret/data/db')).toMatchObject({ fields: { a: 'b' } });
    answers.read = [404, '{"errors":[]}'];
    expect(await codeOf(read('team/secret/none'))).toBe('not_found');
  });

  it.each<[Step, number]>([
    ['login', 400],
    ['login', 500],
    ['read', 403],
    ['read', 404],
    ['read', 500],
    ['read', 429],
  ])('shows no credential that Vault repeats in its answer to a %s with %i', async (step, status) => {
    const token = 'A'.repeat(8) + '-custom-token-of-vault';
    answers.login = [200, JSON.stringify({ auth: { client_token: token, lease_duration: 60, renewable: true } })];
    answers[step] = [status, JSON.stringify({ errors: [`${SECRET_ID} and ${token} are wrong`] })];
    const error = await secretErrorOf(fetch());
    const shown = inspect(error, { depth: 10 });
    expect(error.detail).toMatch(/are wrong$/);
    expect(shown).not.toContain(SECRET_ID);
    if (step === 'read') expect(shown).not.toContain(token);
  });

  it('logs a failed renewal without a credential', async () => {
    const token = 'hvs.of-vault';
    answers.login = [200, JSON.stringify({ auth: { client_token: token, lease_duration: 60, renewable: true } })];
    answers.renewal = [500, JSON.stringify({ errors: [`${SECRET_ID} and ${token} are wrong`] })];
    const log = new PassThrough();
    manager = scene.manager({ logger: createLogger('info', log) });
    await fetch();
    scene.clock.advance(41_000);
    await fetch();
    await manager.close();
    const line = String(log.read());
    expect(JSON.parse(line)).toMatchObject({
      level: 'warn',
      event: 'vault_renewal_failed',
      reason: expect.stringMatching(/^manager_failed: 500: .* are wrong$/),
    });
    for (const secret of [token, SECRET_ID]) expect(line).not.toContain(secret);
  });

  it('shows no credential that could not be sent', async () => {
    const authConfig = { vendorC_auth_type: 'token', vendorC_addr: server.origin, vendorC_token: 'line\nbreak' };
    const error = await secretErrorOf(manager.fetch(scene.request({ authConfig })));
    expect(error.code).toBe('invalid_request');
    expect(inspect(error, { depth: 10 })).not.toContain('break');
  });
});

it('refuses an unknown kind of login', async () => {
  expect(await codeOf(manager.fetch(scene.request({}, { vendorC_auth_type: 'userpass' })))).toBe('invalid_request');
});
