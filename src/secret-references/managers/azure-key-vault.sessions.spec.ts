import { beforeEach, expect, it } from '@jest/globals';
import { loadConfig } from '../../config/environment.js';
import { EgressPolicy } from '../../upstream/egress/egress-policy.js';
import { requestFor, secretErrorOf } from './__fixtures__/azure-vault.js';
import { AzureKeyVault } from './azure-key-vault.js';
import { SecretTransport } from './secret-transport.js';

const ID = 'fad7d5b3-0000-4000-8000-8d12124e61c1';
const REQUEST = requestFor('openai', {
  cloudB_auth_mode: 'entra',
  cloudB_entra_tenant_id: ID,
  cloudB_entra_client_id: ID,
  cloudB_entra_client_secret: 'x',
  cloudB_vault_url: 'https://contoso.vault.azure.net',
});

/** A network that every session asks for once, and that fails the first times. */
class CountedTransport extends SecretTransport {
  sessions = 0;
  failures = 0;

  override fetchWith(): typeof fetch {
    this.sessions += 1;
    if (this.sessions <= this.failures) throw new TypeError('no network');
    return () => Promise.reject(new TypeError('no server'));
  }
}

let transport: CountedTransport;
let manager: AzureKeyVault;

beforeEach(() => {
  const config = loadConfig({});
  transport = new CountedTransport(new EgressPolicy([]), config);
  manager = new AzureKeyVault(transport, config);
});

it('keeps a session when the vault is not reachable', async () => {
  for (let round = 0; round < 2; round += 1)
    expect((await secretErrorOf(manager.fetch(REQUEST))).code).toBe('manager_failed');
  expect(transport.sessions).toBe(1);
});

it('shares no session with another organisation that has the same credentials', async () => {
  await secretErrorOf(manager.fetch(REQUEST));
  await secretErrorOf(manager.fetch({ ...REQUEST, organisationId: 'another' }));
  expect(transport.sessions).toBe(2);
});

it('opens a session again when it could not be opened', async () => {
  transport.failures = 1;
  await expect(manager.fetch(REQUEST)).rejects.toThrow('no network');
  await secretErrorOf(manager.fetch(REQUEST));
  await secretErrorOf(manager.fetch(REQUEST));
  expect(transport.sessions).toBe(2);
});

it('keeps a session when an earlier one could not be opened', async () => {
  transport.failures = 1;
  const first = manager.fetch(REQUEST);
  void manager.close();
  const second = manager.fetch(REQUEST);
  await expect(first).rejects.toThrow('no network');
  await secretErrorOf(second);
  await secretErrorOf(manager.fetch(REQUEST));
  expect(transport.sessions).toBe(2);
});
