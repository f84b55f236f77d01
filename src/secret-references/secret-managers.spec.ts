import { expect, it } from '@jest/globals';
import { loadConfig } from '../config/environment.js';
import { IdentityAllowList } from './identity-allow-list.js';
import type { AuthConfig, ManagerType, SecretDocument, SecretManager } from './managers/secret-manager.types.js';
import { SecretManagers } from './secret-managers.js';

const MINE = '0b6fb6a5-0000-4000-8000-000000000001';
const OTHER = '0b6fb6a5-0000-4000-8000-000000000002';
const DOCUMENT: SecretDocument = { kind: 'text', text: 'value' };
const ALLOW = [
  `${MINE} aws_sm prod/*`,
  `${MINE} azure_kv https://a.vault.azure.net/secrets/team-a-*`,
  `${MINE} hashicorp_vault https://vault.example#gateway`,
].join();

class FakeManager implements SecretManager {
  fetches = 0;
  isClosed = false;

  constructor(readonly type: ManagerType) {}

  fetch(): Promise<SecretDocument> {
    this.fetches += 1;
    return Promise.resolve(DOCUMENT);
  }

  close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }
}

const OWN = {
  cloudA_sm: { cloudA_auth_type: 'serviceRole' },
  cloudB_kv: { cloudB_auth_mode: 'managed', cloudB_vault_url: 'https://a.vault.azure.net' },
  vendorC_vault: { vendorC_auth_type: 'kubernetes', vendorC_addr: 'https://vault.example', vendorC_role: 'gateway' },
} as const;
const PATH = { cloudA_sm: 'prod/key', cloudB_kv: 'team-a-openai', vendorC_vault: 'secret/db' } as const;

interface Case {
  readonly type: ManagerType;
  readonly auth?: AuthConfig;
  readonly path?: string;
  readonly organisationId?: string;
  readonly allow?: string;
}

/** What comes of it, and how often the manager was asked. */
async function fetchAs({ type, auth = {}, path = PATH[type], organisationId = MINE, allow = ALLOW }: Case) {
  const manager = new FakeManager(type);
  const managers = new SecretManagers([manager], new IdentityAllowList(loadConfig({ SECRET_IDENTITY_ALLOW: allow })));
  const request = { organisationId, authConfig: { ...OWN[type], ...auth }, path, version: undefined };
  const outcome: unknown = await managers.fetch(type, request).catch((error: unknown) => error);
  return { outcome, fetches: manager.fetches };
}

it.each<Case>([
  { type: 'cloudA_sm' },
  { type: 'cloudB_kv' },
  { type: 'cloudB_kv', auth: { cloudB_auth_mode: 'default' } },
  { type: 'vendorC_vault' },
  // With credentials of their own there is nothing to allow.
  { type: 'cloudA_sm', auth: { cloudA_auth_type: 'accessKey' }, allow: '' },
  { type: 'cloudB_kv', auth: { cloudB_auth_mode: 'entra' }, allow: '' },
  { type: 'vendorC_vault', auth: { vendorC_auth_type: 'approle' }, allow: '' },
])('fetches a secret that the organisation may read: %p', async (given) => {
  expect(await fetchAs(given)).toEqual({ outcome: DOCUMENT, fetches: 1 });
});

it.each<Case>([
  { type: 'cloudA_sm', path: 'other/key' },
  { type: 'cloudA_sm', path: 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:prod/key' },
  { type: 'cloudB_kv', path: 'team-b-openai' },
  { type: 'cloudB_kv', path: 'https://a.vault.azure.net/secrets/team-b-openai' },
  { type: 'cloudB_kv', auth: { cloudB_auth_mode: 'default' }, path: 'team-b-openai' },
  { type: 'cloudB_kv', auth: { cloudB_auth_mode: 'unknown' }, path: 'team-b-openai' },
  { type: 'vendorC_vault', auth: { vendorC_role: 'admin' } },
  { type: 'vendorC_vault', auth: { vendorC_namespace: 'team-a' } },
  { type: 'vendorC_vault', auth: { vendorC_auth_mount: 'other' } },
  ...(['cloudA_sm', 'cloudB_kv', 'vendorC_vault'] as const).flatMap((type) => [
    { type, organisationId: OTHER },
    { type, allow: '' },
  ]),
])("refuses the gateway's own identity to other organisations, and asks no manager: %p", async (given) => {
  const outcome = expect.objectContaining({ code: 'identity_not_allowed' });
  expect(await fetchAs(given)).toEqual({ outcome, fetches: 0 });
});

it('closes every manager', async () => {
  const manager = new FakeManager('cloudA_sm');
  await new SecretManagers([manager], new IdentityAllowList(loadConfig({}))).onApplicationShutdown();
  expect(manager.isClosed).toBe(true);
});
