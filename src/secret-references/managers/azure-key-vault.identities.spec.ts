import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { APP, type FakeAzure, startFakeAzure, TENANT } from '../../../test/support/fake-azure.js';
import { azureKeyVault, requestFor, secretErrorOf } from './__fixtures__/azure-vault.js';
import type { AuthConfig } from './secret-manager.types.js';

const MACHINE = { tenantId: TENANT, clientId: 'fad7d5b3-0000-4000-8000-0000000000a1' };
const ASSIGNED = { tenantId: TENANT, clientId: 'fad7d5b3-0000-4000-8000-0000000000a2' };
/** Not ASSIGNED: the SDK keeps the tokens of managed identities for the whole process. */
const IN_ENVIRONMENT = { tenantId: TENANT, clientId: 'fad7d5b3-0000-4000-8000-0000000000a4' };
const WORKLOAD = {
  tenantId: TENANT,
  clientId: 'fad7d5b3-0000-4000-8000-0000000000a3',
  federatedSubject: 'system:serviceaccount:tollgate:gateway',
};
const SETTINGS = ['AZURE_TENANT_ID', 'AZURE_CLIENT_ID', 'AZURE_CLIENT_SECRET', 'AZURE_FEDERATED_TOKEN_FILE'];

let azure: FakeAzure;
let folder: string;

beforeAll(async () => {
  azure = await startFakeAzure();
  azure.entra.addManagedIdentity(MACHINE, '');
  azure.entra.addManagedIdentity(ASSIGNED, ASSIGNED.clientId);
  azure.entra.addManagedIdentity(IN_ENVIRONMENT, IN_ENVIRONMENT.clientId);
  azure.entra.addApp(WORKLOAD);
  for (const { clientId } of [MACHINE, ASSIGNED, IN_ENVIRONMENT, WORKLOAD]) azure.vault.allowReading(clientId);
  azure.vault.setSecret('team-a-openai', 'sk-current');
  azure.vault.setSecret('team-b-openai', 'sk-of-others');
  folder = await mkdtemp(join(tmpdir(), 'tollgate-azure-'));
  // Read once and for all by the SDK, at the first use of a managed identity.
  process.env['IDENTITY_ENDPOINT'] = azure.identityEndpoint;
  process.env['IDENTITY_HEADER'] = azure.entra.identityHeader;
});
afterAll(async () => {
  delete process.env['IDENTITY_ENDPOINT'];
  delete process.env['IDENTITY_HEADER'];
  await rm(folder, { recursive: true });
  await azure.close();
});
beforeEach(() => {
  azure.entra.forget();
  azure.vault.forget();
});
afterEach(() => {
  for (const name of SETTINGS) delete process.env[name];
});

function config(mode: 'managed' | 'default', more: Record<string, string> = {}): AuthConfig {
  return { cloudB_auth_mode: mode, cloudB_vault_url: azure.vaultUrl, ...more };
}

function fetchAs(authConfig: AuthConfig, path = 'team-a-openai') {
  const clientId = process.env['AZURE_CLIENT_ID'];
  return azureKeyVault(azure, { clientId }).fetch(requestFor(path, authConfig));
}

describe('managed', () => {
  it("reads with the machine's own identity", async () => {
    expect(await fetchAs(config('managed'))).toEqual({ kind: 'text', text: 'sk-current' });
    expect(azure.entra.identityRequests).toHaveLength(1);
    expect(azure.entra.identityRequests[0]?.has('client_id')).toBe(false);
    expect(azure.entra.requests).toHaveLength(0);
  });

  it('reads with the managed identity that is named', async () => {
    const named = config('managed', { cloudB_managed_client_id: ASSIGNED.clientId });
    expect(await fetchAs(named)).toMatchObject({ text: 'sk-current' });
    expect(azure.entra.identityRequests[0]?.get('client_id')).toBe(ASSIGNED.clientId);
  });

  it('ignores the identity of the environment unless the mode is default', async () => {
    process.env['AZURE_CLIENT_ID'] = APP.clientId;
    expect(await fetchAs(config('managed'))).toMatchObject({ text: 'sk-current' });
  });

  it('fails for a managed identity that the machine lacks', async () => {
    const unknown = config('managed', { cloudB_managed_client_id: APP.clientId });
    const error = await secretErrorOf(fetchAs(unknown));
    expect(error.code).toBe('authentication_failed');
    expect(error.detail).not.toContain(azure.entra.identityHeader);
  });
});

describe('default', () => {
  it('uses the application of the environment first', async () => {
    process.env['AZURE_TENANT_ID'] = APP.tenantId;
    process.env['AZURE_CLIENT_ID'] = APP.clientId;
    process.env['AZURE_CLIENT_SECRET'] = APP.secret;
    expect(await fetchAs(config('default'))).toMatchObject({ text: 'sk-current' });
    expect(azure.entra.tokenRequests[0]?.form.get('client_secret')).toBe(APP.secret);
    expect(azure.entra.identityRequests).toHaveLength(0);
  });

  it('uses the identity of the workload second', async () => {
    const file = join(folder, 'token');
    await writeFile(file, await azure.entra.federatedToken(WORKLOAD.federatedSubject));
    process.env['AZURE_TENANT_ID'] = TENANT;
    process.env['AZURE_CLIENT_ID'] = WORKLOAD.clientId;
    process.env['AZURE_FEDERATED_TOKEN_FILE'] = file;
    expect(await fetchAs(config('default'))).toMatchObject({ text: 'sk-current' });
    expect(azure.entra.tokenRequests[0]?.form.has('client_assertion')).toBe(true);
    expect(azure.entra.identityRequests).toHaveLength(0);
  });

  it('uses a managed identity last', async () => {
    expect(await fetchAs(config('default'))).toMatchObject({ text: 'sk-current' });
    expect(azure.entra.requests).toHaveLength(0);
  });

  it('uses the managed identity that the environment names', async () => {
    process.env['AZURE_CLIENT_ID'] = IN_ENVIRONMENT.clientId;
    expect(await fetchAs(config('default'))).toMatchObject({ text: 'sk-current' });
    expect(azure.entra.identityRequests[0]?.get('client_id')).toBe(IN_ENVIRONMENT.clientId);
    expect(azure.entra.requests).toHaveLength(0);
  });

  it('fails for a managed identity of the environment that the machine lacks', async () => {
    process.env['AZURE_CLIENT_ID'] = APP.clientId;
    expect((await secretErrorOf(fetchAs(config('default')))).code).toBe('authentication_failed');
  });

  it('stops at a wrong secret in the environment', async () => {
    process.env['AZURE_TENANT_ID'] = APP.tenantId;
    process.env['AZURE_CLIENT_ID'] = APP.clientId;
    process.env['AZURE_CLIENT_SECRET'] = 'guess';
    const error = await secretErrorOf(fetchAs(config('default')));
    expect([error.code, error.detail]).toEqual(['authentication_failed', expect.stringContaining('AADSTS7000215')]);
    expect(azure.entra.identityRequests).toHaveLength(0);
  });
});
