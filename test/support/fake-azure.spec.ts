import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ClientSecretCredential } from '@azure/identity';
import { SecretClient } from '@azure/keyvault-secrets';
import { generateKeyPair } from 'jose';
import { azureHttpClient } from '../../src/secret-references/managers/azure-http-client.js';
import { EgressPolicy } from '../../src/upstream/egress/egress-policy.js';
import { guardedFetch } from '../../src/upstream/egress/guarded-fetch.js';
import { APP, type FakeAzure, OTHER_TENANT, RESOURCE, startFakeAzure, TENANT, TENANT_DOMAIN } from './fake-azure.js';
import type { Mint } from './fake-azure-entra.js';
import { jsonOf } from './send.js';

// The names of the published example of the Get Secret operation.
const EXAMPLE = { name: 'mysecretname', value: 'mysecretvalue', apiVersion: '7.4' };

let azure: FakeAzure;
let version: string;

beforeAll(async () => {
  azure = await startFakeAzure();
  version = azure.vault.setSecret(EXAMPLE.name, EXAMPLE.value);
});
afterAll(() => azure.close());
beforeEach(() => {
  azure.entra.forget();
  azure.vault.forget();
});

function askForToken(changes: Record<string, string> = {}, tenant: string = TENANT) {
  const form = {
    client_id: APP.clientId,
    scope: `${RESOURCE}/.default`,
    client_secret: APP.secret,
    grant_type: 'client_credentials',
    ...changes,
  };
  return azure.send(`${azure.authority}/${tenant}/oauth2/v2.0/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  });
}

function get(path: string, token?: string) {
  return azure.send(`${azure.vaultUrl}${path}`, { headers: token === undefined ? {} : bearer(token) });
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

function mint(changes: Partial<Mint> = {}): Promise<string> {
  return azure.entra.mint({ audience: RESOURCE, tenantId: TENANT, clientId: APP.clientId, ...changes });
}

describe('the fake Entra token endpoint', () => {
  it.each([TENANT, TENANT_DOMAIN])('issues a token to an application of %s', async (tenant) => {
    const answer = await askForToken({}, tenant);
    expect(answer.status).toBe(200);
    const body = jsonOf(answer);
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3599 });
    const secret = await get(`/secrets/${EXAMPLE.name}?api-version=7.4`, String(body['access_token']));
    expect(secret.status).toBe(200);
  });

  it('names the token endpoint in its discovery document', async () => {
    const answer = await azure.send(`${azure.authority}/${TENANT}/v2.0/.well-known/openid-configuration`);
    expect(jsonOf(answer)).toMatchObject({
      issuer: `${azure.authority}/${TENANT}/v2.0`,
      token_endpoint: `${azure.authority}/${TENANT}/oauth2/v2.0/token`,
    });
  });

  it.each([
    ['a wrong secret', { client_secret: 'guess' }, 401, 'invalid_client', 7000215],
    ['an unknown application', { client_id: TENANT }, 400, 'unauthorized_client', 700016],
    ['another service', { scope: 'https://graph.test/.default' }, 400, 'invalid_scope', 1002012],
    ['another grant', { grant_type: 'password' }, 400, 'unsupported_grant_type', 70003],
    ['an unsigned assertion', { client_assertion: 'x.y.z' }, 401, 'invalid_client', 700027],
  ])('refuses a token request with %s', async (_what, changes, status, error, code) => {
    const answer = await askForToken(changes);
    expect(answer.status).toBe(status);
    expect(jsonOf(answer)).toMatchObject({ error, error_codes: [code] });
    expect(jsonOf(answer)['error_description']).toContain(`AADSTS${code}: `);
  });

  it('refuses an unknown tenant in token and discovery requests', async () => {
    for (const answer of [
      await askForToken({}, OTHER_TENANT),
      await azure.send(`${azure.authority}/${OTHER_TENANT}/v2.0/.well-known/openid-configuration`),
    ]) {
      expect(answer.status).toBe(400);
      expect(jsonOf(answer)).toMatchObject({ error: 'invalid_tenant', error_codes: [90002] });
    }
  });
});

describe('the fake endpoint of managed identities', () => {
  it('refuses a caller without the identity header, and an unknown identity', async () => {
    const url = `${azure.identityEndpoint}?api-version=2019-08-01&resource=${RESOURCE}`;
    expect((await fetch(url)).status).toBe(401);
    const headers = { 'x-identity-header': azure.entra.identityHeader };
    expect((await fetch(url, { headers })).status).toBe(400);
  });
});

describe('the fake Azure vault', () => {
  it('returns the published example of a secret', async () => {
    const path = `/secrets/${EXAMPLE.name}/${version}?api-version=${EXAMPLE.apiVersion}`;
    const answer = await get(path, await mint());
    expect(answer.status).toBe(200);
    expect(jsonOf(answer)).toMatchObject({
      value: EXAMPLE.value,
      id: `${azure.vaultUrl}/secrets/${EXAMPLE.name}/${version}`,
      attributes: {
        enabled: true,
        created: expect.any(Number),
        updated: expect.any(Number),
        recoveryLevel: 'Recoverable+Purgeable',
      },
    });
  });

  it('sends a challenge to a caller without a token', async () => {
    const answer = await get(`/secrets/${EXAMPLE.name}?api-version=7.4`);
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toBe(
      `Bearer authorization="${azure.authority}/${TENANT}", resource="${RESOURCE}"`,
    );
    expect(jsonOf(answer)).toMatchObject({ error: { code: 'Unauthorized' } });
  });

  it.each<[string, () => Promise<string>, string]>([
    ['no token of Entra ID', () => Promise.resolve('not.a.token'), 'AKV10001'],
    ['for another service', () => mint({ audience: 'https://graph.test' }), 'AKV10022'],
    ['with the vault itself as audience', () => mint({ audience: azure.vaultUrl }), 'AKV10022'],
    ['of another tenant', () => mint({ tenantId: OTHER_TENANT }), 'AKV10032'],
    ['expired', () => mint({ expiresIn: -10 }), 'ERR_JWT_EXPIRED'],
    [
      'signed by another issuer',
      async () => mint({ key: (await generateKeyPair('RS256')).privateKey }),
      'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
    ],
  ])('refuses a token that is %s', async (_what, makeToken, part) => {
    const answer = await get(`/secrets/${EXAMPLE.name}?api-version=7.4`, await makeToken());
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toContain('resource=');
    expect(answer.text).toContain(part);
  });

  it("refuses invalid requests with Azure's error codes", async () => {
    const token = await mint();
    const missing = await get('/secrets/nothing?api-version=7.4', token);
    expect([missing.status, jsonOf(missing)['error']]).toMatchObject([404, { code: 'SecretNotFound' }]);
    const unversioned = await get(`/secrets/${EXAMPLE.name}`, token);
    expect([unversioned.status, jsonOf(unversioned)['error']]).toMatchObject([400, { code: 'BadParameter' }]);
    const stranger = await get(`/secrets/${EXAMPLE.name}?api-version=7.4`, await mint({ clientId: TENANT }));
    expect([stranger.status, jsonOf(stranger)['error']]).toMatchObject([
      403,
      { code: 'Forbidden', innererror: { code: 'ForbiddenByRbac' } },
    ]);
    azure.vault.behaviour = 'throttled';
    const throttled = await get(`/secrets/${EXAMPLE.name}?api-version=7.4`, token);
    expect([throttled.status, throttled.headers['retry-after']]).toEqual([429, '30']);
  });

  it('returns the newest version as current even when it is disabled', async () => {
    const first = azure.vault.setSecret('rotated', 'one');
    azure.vault.setSecret('Rotated', 'two');
    const token = await mint();
    expect(jsonOf(await get('/secrets/ROTATED/?api-version=7.4', token))['value']).toBe('two');
    expect(jsonOf(await get(`/secrets/rotated/${first}?api-version=7.4`, token))['value']).toBe('one');
    azure.vault.setSecret('rotated', 'three', { enabled: false });
    expect((await get('/secrets/rotated?api-version=7.4', token)).text).toContain('SecretDisabled');
  });
});

describe('the fake Azure vault with the official SDK', () => {
  function client(secret: string = APP.secret): SecretClient {
    const policy = new EgressPolicy(['127.0.0.1'], azure.resolve);
    const send = guardedFetch(policy, { timeoutMs: 2_000, maxResponseBytes: 100_000, ca: azure.ca });
    const credential = new ClientSecretCredential(TENANT, APP.clientId, secret, {
      httpClient: azureHttpClient(send, [azure.authority]),
      authorityHost: azure.authority,
      disableInstanceDiscovery: true,
    });
    return new SecretClient(azure.vaultUrl, credential, { httpClient: azureHttpClient(send, [azure.vaultUrl]) });
  }

  it('returns a secret to the official SDK', async () => {
    const secret = await client().getSecret(EXAMPLE.name);
    expect(secret.value).toBe(EXAMPLE.value);
    expect(secret.properties).toMatchObject({ version, enabled: true, recoveryLevel: 'Recoverable+Purgeable' });
    expect(azure.vault.requests.map(({ authorization }) => authorization?.slice(0, 6))).toEqual([undefined, 'Bearer']);
  });

  it('refuses a wrong client secret and a missing secret in the official SDK', async () => {
    await expect(client('guess').getSecret(EXAMPLE.name)).rejects.toThrow('AADSTS7000215');
    await expect(client().getSecret('nothing')).rejects.toMatchObject({ statusCode: 404, code: 'SecretNotFound' });
  });
});
