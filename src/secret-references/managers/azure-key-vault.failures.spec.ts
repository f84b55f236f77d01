import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { APP, type FakeAzure, OTHER_TENANT, startFakeAzure } from '../../../test/support/fake-azure.js';
import { closedPort } from '../../upstream/__fixtures__/loopback.js';
import { azureKeyVault, entraConfig, requestFor, secretErrorOf } from './__fixtures__/azure-vault.js';
import type { SecretErrorCode } from './secret-manager.types.js';

const STRANGER = { tenantId: APP.tenantId, clientId: 'fad7d5b3-0000-4000-8000-000000000002', secret: 'stranger' };
const EXPIRED = {
  ...APP,
  clientId: 'fad7d5b3-0000-4000-8000-000000000003',
  secretExpired: true,
};

/** Much longer than the first fetch takes on a busy machine, which loads the SDK; shorter than the fakes ask to wait. */
const PATIENT_MS = 20_000;

let azure: FakeAzure;

beforeAll(async () => {
  azure = await startFakeAzure();
  azure.entra.addApp(STRANGER);
  azure.entra.addApp(EXPIRED);
  azure.entra.addApp({ ...STRANGER, tenantId: OTHER_TENANT, clientId: OTHER_TENANT });
  azure.vault.setSecret('openai', 'sk-current');
});
afterAll(() => azure.close());
beforeEach(() => {
  azure.entra.forget();
  azure.vault.forget();
});

async function failureOf(changes: Record<string, string> = {}, timeoutMs = PATIENT_MS, path = 'openai') {
  const manager = azureKeyVault(azure, { timeoutMs });
  const error = await secretErrorOf(manager.fetch(requestFor(path, entraConfig(azure, changes))));
  expect(error.detail).not.toContain(APP.secret);
  expect(error.detail).not.toContain('sk-current');
  expect(error.detail.length).toBeLessThanOrEqual(300);
  return error;
}

describe('refusals of the vault', () => {
  it('reports a caller without the role', async () => {
    const identity = {
      cloudB_entra_client_id: STRANGER.clientId,
      cloudB_entra_client_secret: STRANGER.secret,
    };
    const { code, detail } = await failureOf(identity);
    expect(code).toBe('access_denied');
    expect(detail).toContain('Forbidden/ForbiddenByRbac');
  });

  it.each<[number, string, string | undefined, SecretErrorCode]>([
    [403, 'Forbidden', 'ForbiddenByPolicy', 'access_denied'],
    [403, 'Forbidden', 'ForbiddenByFirewall', 'access_denied'],
    [403, 'Forbidden', 'AccessDenied', 'access_denied'],
    [403, 'Forbidden', undefined, 'access_denied'],
    [403, 'Forbidden', 'SecretExpired', 'disabled'],
    [403, 'Forbidden', 'SecretNotYetValid', 'disabled'],
    [400, 'BadParameter', undefined, 'invalid_request'],
    [409, 'Conflict', undefined, 'invalid_response'],
    [500, 'InternalServerError', undefined, 'manager_failed'],
  ])('maps the refusal %s %s/%s to %s', async (status, code, inner, expected) => {
    azure.vault.refusal = { status, code, inner, message: 'as it is' };
    expect((await failureOf()).code).toBe(expected);
  });

  it('distinguishes a disabled version from a missing and a deleted secret', async () => {
    azure.vault.setSecret('off', 'value', { enabled: false });
    azure.vault.setSecret('gone', 'value');
    azure.vault.deleteSecret('gone');
    const codes = await Promise.all(
      ['off', 'gone', 'never'].map(async (path) => (await failureOf({}, PATIENT_MS, path)).code),
    );
    expect(codes).toEqual(['disabled', 'not_found', 'not_found']);
  });

  it('accepts a secret after its end, since Azure returns it', async () => {
    azure.vault.setSecret('old', 'still-given', { expires: 1_600_000_000 });
    const document = await azureKeyVault(azure).fetch(requestFor('old', entraConfig(azure)));
    expect(document).toEqual({ kind: 'text', text: 'still-given' });
  });

  it('reports a tenant that the vault does not belong to', async () => {
    const other = {
      cloudB_entra_tenant_id: OTHER_TENANT,
      cloudB_entra_client_id: OTHER_TENANT,
      cloudB_entra_client_secret: STRANGER.secret,
    };
    const { code, detail } = await failureOf(other);
    expect([code, detail]).toEqual(['authentication_failed', expect.stringContaining('AKV10032')]);
  });
});

describe('a vault that fails', () => {
  it.each([
    ['throttled', 'throttled', 2],
    ['down', 'manager_failed', 3],
    ['html', 'invalid_response', 2],
    ['html_404', 'invalid_response', 2],
    ['empty', 'invalid_response', 2],
    ['wrong_shape', 'invalid_response', 2],
    ['half', 'invalid_response', 2],
    ['huge', 'too_large', 2],
    ['cut', 'unreachable', 2],
  ] as const)('a vault that is %s fails with %s, after %i requests', async (behaviour, code, requests) => {
    azure.vault.behaviour = behaviour;
    const error = await failureOf();
    expect([error.code, azure.vault.requests.length]).toEqual([code, requests]);
    expect(error.detail).not.toContain('half-a-sec');
  });

  it('retries a vault soon, however long it asks to wait', async () => {
    azure.vault.behaviour = 'down_once';
    const started = Date.now();
    const document = await azureKeyVault(azure).fetch(requestFor('openai', entraConfig(azure)));
    expect(document).toMatchObject({ text: 'sk-current' });
    expect(Date.now() - started).toBeLessThan(PATIENT_MS);
  });

  it('gives up in time on a slow vault', async () => {
    azure.vault.behaviour = 'slow';
    expect((await failureOf({}, 300)).code).toBe('timeout');
  });

  it('reports a vault without a server as unreachable', async () => {
    const url = new URL(azure.vaultUrl);
    url.port = String(await closedPort());
    expect((await failureOf({ cloudB_vault_url: url.origin })).code).toBe('unreachable');
  });
});

describe('refusals of Entra ID', () => {
  it.each([
    ['a wrong secret', { cloudB_entra_client_secret: 'guess' }, 'AADSTS7000215'],
    ['an expired secret', { cloudB_entra_client_id: EXPIRED.clientId }, 'AADSTS7000222'],
    ['an unknown application', { cloudB_entra_client_id: OTHER_TENANT }, 'AADSTS700016'],
  ])('fails the login with %s', async (_what, changes, aadsts) => {
    const { code, detail } = await failureOf(changes);
    expect([code, detail]).toEqual(['authentication_failed', expect.stringContaining(aadsts)]);
    expect(azure.entra.tokenRequests).toHaveLength(1);
    expect(azure.vault.requests).toHaveLength(1);
  });

  it('fails the login with an unknown tenant', async () => {
    const error = await failureOf({ cloudB_entra_tenant_id: 'fad7d5b3-0000-4000-8000-00000000000f' });
    expect(error.code).toBe('authentication_failed');
    expect(azure.entra.tokenRequests).toHaveLength(0);
  });
});

describe('an authority that fails', () => {
  const cases = [
    ['throttled', 'throttled'],
    ['down', 'manager_failed'],
    ['html', 'invalid_response'],
    ['html_404', 'invalid_response'],
    ['empty', 'invalid_response'],
    ['wrong_shape', 'invalid_response'],
    ['half', 'invalid_response'],
    ['huge', 'too_large'],
    ['redirect', 'invalid_response'],
    ['cut', 'unreachable'],
  ] as const;

  it.each(cases)('an authority that is %s at discovery fails with %s', async (behaviour, code) => {
    azure.entra.behaviour = behaviour;
    expect((await failureOf()).code).toBe(code);
    expect(azure.entra.requests.length).toBeLessThanOrEqual(4);
  });

  it.each(cases)('an authority that is %s at a token request fails with %s', async (behaviour, code) => {
    azure.entra.behaviour = behaviour;
    azure.entra.misbehavesAt = '/token';
    expect((await failureOf()).code).toBe(code);
    expect(azure.entra.tokenRequests.length).toBeLessThanOrEqual(2);
  });

  it('gives up in time on a slow authority', async () => {
    azure.entra.behaviour = 'slow';
    const started = Date.now();
    expect((await failureOf({}, 300)).code).toBe('timeout');
    expect(Date.now() - started).toBeLessThan(PATIENT_MS / 2);
  });

  it.each([
    ['throttled', 'throttled', '/token'],
    ['down', 'manager_failed', '/token'],
    ['down', 'manager_failed', '/openid-configuration'],
  ] as const)(
    'an authority that is %s fails each time with %s at %s, and serves again once it recovers',
    async (behaviour, code, path) => {
      const manager = azureKeyVault(azure);
      const request = requestFor('openai', entraConfig(azure));
      azure.entra.behaviour = behaviour;
      azure.entra.misbehavesAt = path;
      expect((await secretErrorOf(manager.fetch(request))).code).toBe(code);
      expect((await secretErrorOf(manager.fetch(request))).code).toBe(code);
      azure.entra.forget();
      expect(await manager.fetch(request)).toMatchObject({ text: 'sk-current' });
    },
  );
});
