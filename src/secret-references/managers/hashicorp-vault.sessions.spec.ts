import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { codeOf, VaultScene } from './__fixtures__/vault.js';
import type { HashicorpVault } from './hashicorp-vault.js';

const LOGIN = 'auth/approle/login';
const RENEWAL = 'auth/token/renew-self';
const TWO = { kind: 'fields', fields: { password: 'two' } };

let scene: VaultScene;
let manager: HashicorpVault;

beforeEach(async () => {
  scene = await VaultScene.start();
  manager = scene.manager();
});

afterEach(async () => {
  await manager.close();
  await scene.vault.close();
});

/** Reads, and waits for what that began in the background. */
async function read(): Promise<unknown> {
  const document = await manager.fetch(scene.request());
  let before: number;
  do {
    before = scene.vault.calls.length;
    await new Promise((resolve) => setTimeout(resolve, 40));
  } while (scene.vault.calls.length > before || scene.vault.calls.some(({ status }) => status === undefined));
  return document;
}

function counts(): { readonly logins: number; readonly renewals: number } {
  return { logins: scene.count(LOGIN), renewals: scene.count(RENEWAL) };
}

describe('a token with a lease', () => {
  it('uses one token for all secrets, and renews it when two thirds of its lease are over', async () => {
    scene.allowLogin({ ttlSeconds: 60 });
    await read();
    scene.clock.advance(39_000);
    await read();
    expect(counts()).toEqual({ logins: 1, renewals: 0 });
    scene.clock.advance(1_500);
    await read();
    expect(counts()).toEqual({ logins: 1, renewals: 1 });
    // The old lease would be over; the renewed one is not.
    scene.clock.advance(30_000);
    expect(await read()).toEqual(TWO);
    expect(counts()).toEqual({ logins: 1, renewals: 1 });
  });

  it('renews a token as usual when the clock is set back', async () => {
    scene.allowLogin({ ttlSeconds: 60 });
    await read();
    scene.clock.setBack(3 * 3_600_000);
    scene.clock.advance(40_500);
    await read();
    expect(counts()).toEqual({ logins: 1, renewals: 1 });
  });

  it('lets no request wait for the renewal of a token', async () => {
    manager = scene.manager({ timeoutMs: 1_000 });
    scene.allowLogin({ ttlSeconds: 60 });
    await read();
    scene.clock.advance(41_000);
    scene.vault.fail('silent', { on: /renew-self$/ });
    await Promise.all(Array.from({ length: 10 }, () => manager.fetch(scene.request())));
    expect(counts()).toEqual({ logins: 1, renewals: 1 });
    await manager.close();
  });

  it('logs in once a token has expired', async () => {
    scene.allowLogin({ ttlSeconds: 60 });
    await read();
    scene.clock.advance(61_000);
    expect(await read()).toEqual(TWO);
    expect(counts()).toEqual({ logins: 2, renewals: 0 });
  });

  it('uses a token while its renewals fail, and does not retry them at every use', async () => {
    scene.allowLogin({ ttlSeconds: 60 });
    await read();
    scene.vault.fail('broken', { on: /renew-self$/ });
    scene.clock.advance(41_000);
    await read();
    expect(await read()).toEqual(TWO);
    expect(counts()).toEqual({ logins: 1, renewals: 1 });
    scene.clock.advance(5_001);
    await read();
    expect(counts()).toEqual({ logins: 1, renewals: 2 });
    scene.clock.advance(20_000);
    expect(await read()).toEqual(TWO);
    expect(counts()).toEqual({ logins: 2, renewals: 2 });
  });

  it('replaces a token in the background when Vault does not renew it, or hardly', async () => {
    scene.allowLogin({ ttlSeconds: 60, maxTtlSeconds: 65 });
    await read();
    scene.clock.advance(41_000);
    await read();
    expect(counts()).toEqual({ logins: 2, renewals: 1 });
    scene.vault.root.writePolicy('default', {});
    scene.clock.advance(41_000);
    await read();
    expect(counts()).toEqual({ logins: 3, renewals: 2 });
    expect(scene.vault.calls.at(-1)).toMatchObject({ path: LOGIN, status: 200 });
  });

  it('does not renew a token that is not renewable', async () => {
    for (const grant of [{ renewable: false }, { type: 'batch' as const }]) {
      scene.vault.forget();
      manager = scene.manager();
      scene.allowLogin({ ttlSeconds: 60, ...grant });
      await read();
      scene.clock.advance(41_000);
      await read();
      expect(counts()).toEqual({ logins: 2, renewals: 0 });
    }
  });

  it('never renews a token that does not expire', async () => {
    scene.allowLogin({ ttlSeconds: 0 });
    await read();
    scene.clock.advance(3_000_000);
    await read();
    expect(counts()).toEqual({ logins: 1, renewals: 0 });
  });

  it('fails when a token has expired and the login fails', async () => {
    scene.allowLogin({ ttlSeconds: 60 }, 1);
    await read();
    scene.clock.advance(61_000);
    expect(await codeOf(read())).toBe('authentication_failed');
  });
});

describe('a token with a number of uses', () => {
  it('replaces a token when its uses are over, and does not renew it', async () => {
    scene.allowLogin({ ttlSeconds: 60, numUses: 2 });
    for (let round = 0; round < 4; round += 1) expect(await read()).toEqual(TWO);
    expect(counts()).toEqual({ logins: 2, renewals: 0 });
    expect(scene.vault.calls.every(({ status }) => status === 200)).toBe(true);
  });

  it('serves every waiting request with a token of few uses', async () => {
    scene.allowLogin({ numUses: 7 });
    const all = await Promise.all(Array.from({ length: 30 }, () => manager.fetch(scene.request())));
    expect(all).toEqual(Array(30).fill(TWO));
    expect(counts().logins).toBe(5);
  });

  it('needs one use of a token, even where it has to guess the mount', async () => {
    scene.vault.hidesMounts = true;
    scene.allowLogin({ numUses: 1 });
    expect(await read()).toEqual(TWO);
    expect(counts().logins).toBe(2);
  });

  it('fails when the uses of the secret id are over', async () => {
    scene.allowLogin({ numUses: 1 }, 1);
    await read();
    expect(await codeOf(read())).toBe('authentication_failed');
  });
});

describe('a token that is refused', () => {
  it('logs in once and reads again when a token was revoked', async () => {
    scene.allowLogin();
    await read();
    scene.vault.tokens.revokeAll();
    expect(await read()).toEqual(TWO);
    expect(counts().logins).toBe(2);
  });

  it('logs in once for all when a token is revoked while many use it', async () => {
    scene.allowLogin();
    await read();
    scene.vault.tokens.revokeAll();
    const all = await Promise.all(Array.from({ length: 50 }, () => manager.fetch(scene.request())));
    expect(all).toEqual(Array(50).fill(TWO));
    expect(counts().logins).toBe(2);
  });

  it('logs in once and reads again when a token has another policy', async () => {
    scene.allowLogin({ policies: [] });
    expect(await codeOf(read())).toBe('access_denied');
    scene.clock.advance(61_000);
    scene.allowLogin();
    expect(await read()).toEqual(TWO);
    expect(counts().logins).toBe(2);
  });

  it('does not log in again when a new token is refused', async () => {
    scene.allowLogin({ policies: [] });
    expect(await codeOf(read())).toBe('access_denied');
    expect(counts().logins).toBe(1);
  });

  it('logs in no more within a minute for a denied path, and reads other paths', async () => {
    scene.allowLogin();
    const forbidden = scene.request({ path: 'elsewhere/db' });
    await read();
    expect(await codeOf(manager.fetch(forbidden))).toBe('access_denied');
    expect(counts().logins).toBe(2);
    for (let round = 0; round < 3; round += 1) expect(await codeOf(manager.fetch(forbidden))).toBe('access_denied');
    expect(await read()).toEqual(TWO);
    expect(counts().logins).toBe(2);
    scene.clock.advance(60_001);
    expect(await codeOf(manager.fetch(forbidden))).toBe('access_denied');
    expect(counts().logins).toBe(3);
  });

  it('does not log in in a loop when token and credentials were revoked', async () => {
    scene.allowLogin({}, 1);
    await read();
    scene.vault.tokens.revokeAll();
    expect(await codeOf(read())).toBe('authentication_failed');
    expect(counts().logins).toBe(2);
  });
});

describe('many at once', () => {
  it('shares one login among concurrent requests', async () => {
    scene.allowLogin();
    const all = await Promise.all(Array.from({ length: 100 }, () => manager.fetch(scene.request())));
    expect(all).toEqual(Array(100).fill(TWO));
    expect(counts().logins).toBe(1);
  });

  it('shares a failed login among concurrent requests, and tries again at the next', async () => {
    const codes = await Promise.all(Array.from({ length: 100 }, () => codeOf(manager.fetch(scene.request()))));
    expect(new Set(codes)).toEqual(new Set(['authentication_failed']));
    expect(counts().logins).toBe(1);
    scene.allowLogin();
    expect(await read()).toEqual(TWO);
  });

  it('shares no login with other organisations or other credentials', async () => {
    scene.allowLogin();
    await read();
    await manager.fetch(scene.request({ organisationId: 'another' }));
    expect(counts().logins).toBe(2);
    expect(await codeOf(manager.fetch(scene.request({}, { vendorC_secret_id: 'wrong' })))).toBe(
      'authentication_failed',
    );
  });
});

describe('close', () => {
  it('waits for renewals when it closes', async () => {
    scene.allowLogin({ ttlSeconds: 60 });
    await read();
    scene.clock.advance(41_000);
    await manager.fetch(scene.request());
    await manager.close();
    expect(scene.vault.calls.at(-1)?.status).toBe(200);
    expect(counts()).toEqual({ logins: 1, renewals: 1 });
  });

  it('forgets tokens when it closes', async () => {
    scene.allowLogin();
    await read();
    await manager.close();
    await read();
    expect(counts().logins).toBe(2);
  });
});

it('forgets credentials that were unused for an hour', async () => {
  scene.allowLogin({ ttlSeconds: 0 });
  await read();
  scene.clock.advance(3_500_000);
  await read();
  expect(counts().logins).toBe(1);
  scene.clock.advance(3_700_000);
  await read();
  expect(counts().logins).toBe(2);
});
