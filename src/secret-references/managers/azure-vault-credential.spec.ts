import type { GetTokenOptions, TokenCredential } from '@azure/identity';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { UpstreamFailure } from '../../upstream/upstream.types.js';
import { secretErrorOf } from './__fixtures__/azure-vault.js';
import { AzureVaultCredential, TokenTraffic } from './azure-identity.js';

const SCOPE = 'https://vault.azure.net/.default';
const HOUR_MS = 3_600_000;

class FakeIdentity implements TokenCredential {
  readonly calls: { readonly scopes: string | string[]; readonly options: GetTokenOptions | undefined }[] = [];
  failure: Error | undefined;

  getToken(scopes: string | string[], options?: GetTokenOptions) {
    this.calls.push({ scopes, options });
    if (this.failure !== undefined) return Promise.reject(this.failure);
    return Promise.resolve({ token: `token-${this.calls.length}`, expiresOnTimestamp: now + HOUR_MS });
  }
}

let now = 0;
let identity: FakeIdentity;
let traffic: TokenTraffic;
let credential: AzureVaultCredential;

beforeEach(() => {
  now = 1_700_000_000_000;
  identity = new FakeIdentity();
  traffic = new TokenTraffic();
  credential = new AzureVaultCredential('contoso.vault.azure.net', identity, traffic, 'app-secret', () => now);
});

describe('AzureVaultCredential', () => {
  it("asks for a token of the vault's service, and not of the tenant that the challenge names", async () => {
    await credential.getToken([SCOPE], { tenantId: 'of-the-challenge', enableCae: true });
    expect(identity.calls).toEqual([{ scopes: SCOPE, options: { claims: undefined, enableCae: true } }]);
  });

  it.each([
    'https://graph.microsoft.com/.default',
    'https://azure.net/.default',
    'https://net/.default',
    'http://vault.azure.net/.default',
    'https://vault.azure.net/user_impersonation',
    '',
  ])('returns no token for %p', async (scope) => {
    expect((await secretErrorOf(credential.getToken([scope]))).code).toBe('invalid_response');
    expect((await secretErrorOf(credential.getToken([SCOPE, scope]))).code).toBe('invalid_response');
    expect(identity.calls).toHaveLength(0);
  });

  it('keeps its token until five minutes before the end', async () => {
    await credential.getToken(SCOPE);
    now += HOUR_MS - 5 * 60_000 - 1;
    expect((await credential.getToken(SCOPE)).token).toBe('token-1');
    now += 1;
    expect((await credential.getToken(SCOPE)).token).toBe('token-2');
  });

  it('requests a token with the claims of a vault that refused one', async () => {
    await credential.getToken(SCOPE);
    expect((await credential.getToken(SCOPE, { claims: '{}' })).token).toBe('token-2');
    expect(identity.calls[1]?.options).toMatchObject({ claims: '{}' });
    expect((await credential.getToken(SCOPE)).token).toBe('token-2');
  });

  it('lets the SDK renew nothing in the background', async () => {
    expect(await credential.getToken(SCOPE)).toEqual({
      token: 'token-1',
      expiresOnTimestamp: 0,
      refreshAfterTimestamp: undefined,
    });
  });

  it('names the secrets that no log may show', async () => {
    expect(credential.secrets).toEqual(['app-secret']);
    await credential.getToken(SCOPE);
    expect(credential.secrets).toEqual(['app-secret', 'token-1']);
  });

  it('reports the failure of the network, which the SDK hides', async () => {
    identity.failure = new Error('endpoints_resolution_error');
    traffic.failed(new UpstreamFailure('timeout', 'of an earlier login'));
    expect((await secretErrorOf(credential.getToken(SCOPE))).code).toBe('authentication_failed');
    identity.getToken = () => {
      traffic.failed(new UpstreamFailure('connect', 'no connection'));
      return Promise.reject(new Error('endpoints_resolution_error'));
    };
    expect((await secretErrorOf(credential.getToken(SCOPE))).code).toBe('unreachable');
  });

  it('keeps the client secret out of the error', async () => {
    identity.failure = new Error('the secret app-secret was refused');
    expect((await secretErrorOf(credential.getToken(SCOPE))).detail).toBe('no token: the secret [removed] was refused');
  });
});
