import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  APP,
  type FakeAzure,
  OTHER_TENANT,
  startFakeAzure,
  TENANT,
  TENANT_DOMAIN,
} from '../../../test/support/fake-azure.js';
import { EgressPolicy } from '../../upstream/egress/egress-policy.js';
import { azureKeyVault, entraConfig, requestFor, secretErrorOf } from './__fixtures__/azure-vault.js';

let azure: FakeAzure;
let older: string;

beforeAll(async () => {
  azure = await startFakeAzure();
  older = azure.vault.setSecret('openai', 'sk-older');
  azure.vault.setSecret('openai', 'sk-current');
  azure.vault.setSecret('empty', '');
});
afterAll(() => azure.close());
beforeEach(() => {
  azure.entra.forget();
  azure.vault.forget();
});

function fetchOne(path: string, version?: string) {
  return azureKeyVault(azure).fetch(requestFor(path, entraConfig(azure), version));
}

async function failureOf(path: string, version?: string, changes: Record<string, string> = {}) {
  const request = requestFor(path, entraConfig(azure, changes), version);
  return secretErrorOf(azureKeyVault(azure).fetch(request));
}

describe('addresses', () => {
  it('returns the current version as text', async () => {
    expect(await fetchOne('openai')).toEqual({ kind: 'text', text: 'sk-current' });
    expect(await fetchOne('empty')).toEqual({ kind: 'text', text: '' });
  });

  it('returns the requested version in each way to name it', async () => {
    const expected = { kind: 'text', text: 'sk-older' };
    expect(await fetchOne(`openai/${older}`)).toEqual(expected);
    expect(await fetchOne('openai', older)).toEqual(expected);
    expect(await fetchOne(`${azure.vaultUrl}/secrets/openai/${older}`)).toEqual(expected);
  });

  it.each([
    ['../keys/openai', undefined],
    ['openai/latest', undefined],
    ['open_ai', undefined],
    ['https://other.vault.azure.test/secrets/openai', undefined],
    ['openai', 'AWSPREVIOUS'],
    [`openai/${'0'.repeat(32)}`, '0'.repeat(32)],
  ])('sends no request for %s, version %s', async (path, version) => {
    expect((await failureOf(path, version)).code).toBe('invalid_request');
    expect(azure.vault.requests).toHaveLength(0);
  });
});

describe('the login of an application', () => {
  it('accepts a domain of the tenant', async () => {
    const config = entraConfig(azure, { cloudB_entra_tenant_id: TENANT_DOMAIN });
    expect(await azureKeyVault(azure).fetch(requestFor('openai', config))).toMatchObject({ text: 'sk-current' });
  });

  it('asks without a token first, and never sends the secret to the vault', async () => {
    await fetchOne('openai');
    expect(azure.vault.requests.map(({ authorization }) => authorization?.slice(0, 6))).toEqual([undefined, 'Bearer']);
    expect(JSON.stringify(azure.vault.requests)).not.toContain(APP.secret);
    expect(azure.vault.requests[0]?.headers['accept-encoding']).toBe('identity');
    expect(azure.vault.requests[0]?.apiVersion).toBe('2025-07-01');
  });

  it('logs in once for many fetches, concurrent and later', async () => {
    const manager = azureKeyVault(azure);
    const request = requestFor('openai', entraConfig(azure));
    await Promise.all([manager.fetch(request), manager.fetch(request), manager.fetch(request)]);
    for (let count = 0; count < 3; count += 1) await manager.fetch(request);
    expect(azure.entra.tokenRequests).toHaveLength(1);
    await manager.close();
    await manager.fetch(request);
    expect(azure.entra.tokenRequests).toHaveLength(2);
  });

  it('uses no token of one client secret for another', async () => {
    const manager = azureKeyVault(azure);
    await manager.fetch(requestFor('openai', entraConfig(azure)));
    const wrong = requestFor('openai', entraConfig(azure, { cloudB_entra_client_secret: 'guess' }));
    expect((await secretErrorOf(manager.fetch(wrong))).code).toBe('authentication_failed');
  });

  it('logs in once more when the vault refuses a kept token', async () => {
    const manager = azureKeyVault(azure);
    const request = requestFor('openai', entraConfig(azure));
    await manager.fetch(request);
    azure.vault.revokeTokens();
    expect(await manager.fetch(request)).toMatchObject({ text: 'sk-current' });
    expect(azure.entra.tokenRequests).toHaveLength(2);
  });

  it('does not log in a third time', async () => {
    const manager = azureKeyVault(azure);
    const request = requestFor('openai', entraConfig(azure));
    await manager.fetch(request);
    azure.entra.forget();
    azure.vault.rejectsTokens = true;
    expect((await secretErrorOf(manager.fetch(request))).code).toBe('authentication_failed');
    azure.vault.rejectsTokens = false;
    expect(azure.entra.tokenRequests).toHaveLength(1);
    expect(await manager.fetch(request)).toMatchObject({ text: 'sk-current' });
  });
});

describe('a hostile vault', () => {
  it.each([
    ['another service', { resource: 'https://graph.test' }],
    ['the domain above its service', { resource: 'https://azure.test' }],
    ['the top-level domain', { resource: 'https://test' }],
    ['no URL', { resource: 'vault' }],
  ])('sends no token to a vault with %s', async (_what, challenge) => {
    azure.vault.challenge = challenge;
    expect((await failureOf('openai')).code).toBe('invalid_response');
    expect(azure.entra.requests).toHaveLength(0);
    expect(azure.vault.requests.every(({ authorization }) => authorization === undefined)).toBe(true);
  });

  it('follows a vault to no other authority and no other tenant', async () => {
    azure.vault.challenge = { authorization: `https://evil.azure.test/${OTHER_TENANT}` };
    expect(await fetchOne('openai')).toMatchObject({ text: 'sk-current' });
    expect(azure.entra.requests.every(({ path }) => path.startsWith(`/${TENANT}/`))).toBe(true);
  });

  it('follows no redirect of a vault', async () => {
    azure.vault.behaviour = 'redirect';
    expect((await failureOf('openai')).code).toBe('invalid_response');
    expect(azure.vault.requests).toHaveLength(2);
  });

  it('logs neither the token nor the secret that a vault repeats', async () => {
    azure.vault.behaviour = 'echo';
    const { code, detail } = await failureOf('openai');
    expect([code, detail]).toEqual([
      'access_denied',
      'the vault answered 403 (Forbidden/ForbiddenByPolicy): no access with Bearer [removed]',
    ]);
  });
});

describe('where it goes', () => {
  it.each([
    'https://169.254.169.254',
    'https://127.0.0.1',
    'https://metadata.google.internal',
    'https://contoso.vault.azure.net.evil.test',
    'http://contoso.vault.azure.net',
    'https://user:password@contoso.vault.azure.net',
  ])('sends no request to %s', async (url) => {
    expect((await failureOf('openai', undefined, { cloudB_vault_url: url })).code).toBe('refused_by_egress');
    expect(azure.entra.requests).toHaveLength(0);
  });

  it.each(['169.254.169.254', '127.0.0.1', '10.0.0.1', '::1'])('sends no request to a vault at %s', async (address) => {
    const egress = new EgressPolicy([], () => Promise.resolve([{ address, family: address === '::1' ? 6 : 4 }]));
    const manager = azureKeyVault(azure, { egress, vaultHosts: ['.vault.azure.net'] });
    const config = entraConfig(azure, { cloudB_vault_url: 'https://contoso.vault.azure.net' });
    const error = await secretErrorOf(manager.fetch(requestFor('openai', config)));
    expect(error.code).toBe('refused_by_egress');
    expect(error.detail).not.toContain(address);
  });

  it('sends no credential to an authority that the egress rules refuse', async () => {
    const manager = azureKeyVault(azure, { authority: 'https://10.0.0.1' });
    const error = await secretErrorOf(manager.fetch(requestFor('openai', entraConfig(azure))));
    expect(error.code).toBe('refused_by_egress');
  });
});
