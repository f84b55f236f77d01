import { validateSync } from 'class-validator';
import { describe, expect, it } from '@jest/globals';
import { EgressPolicy } from '../../upstream/egress/egress-policy.js';
import type { AuthConfig } from '../managers/secret-manager.types.js';
import { azureScheme } from './azure.scheme.js';

const VAULT = 'https://contoso.vault.azure.net';
const VERSION = '4387e9f3d6e14c459867679a90fd0f79';
const TENANT = '72f988bf-0000-4000-8000-2d7cd011db47';

const entra = {
  cloudB_auth_mode: 'entra',
  cloudB_entra_tenant_id: TENANT,
  cloudB_entra_client_id: 'fad7d5b3-0000-4000-8000-8d12124e61c1',
  cloudB_entra_client_secret: 'app~secret',
  cloudB_vault_url: VAULT,
};
const managed = { cloudB_auth_mode: 'managed', cloudB_vault_url: VAULT };
const own = { cloudB_auth_mode: 'default', cloudB_vault_url: VAULT };

const rules = {
  egress: new EgressPolicy([]),
  azureVaultHosts: ['.vault.azure.net', '.vault.azure.cn', 'vault.private.example'],
};

function wrongFields(variant: string, config: object): readonly string[] {
  const Variant = azureScheme.variants[variant];
  if (Variant === undefined) throw new Error(`no variant ${variant}`);
  const errors = validateSync(Object.assign(new Variant(), config), { whitelist: true, forbidNonWhitelisted: true });
  return errors.map(({ property }) => property);
}

function problems(config: AuthConfig, path = 'openai', version?: string) {
  return azureScheme.problems(config, { path, version }, rules);
}

function vaultProblem(url: string): string | undefined {
  const [problem, ...more] = problems({ ...entra, cloudB_vault_url: url });
  expect(more).toEqual([]);
  if (problem !== undefined) expect(problem.param).toBe('auth_config.cloudB_vault_url');
  return problem?.message;
}

describe('fields', () => {
  it.each([
    ['entra', entra],
    ['entra', { ...entra, cloudB_entra_tenant_id: 'contoso.onmicrosoft.com' }],
    ['managed', managed],
    ['managed', { ...managed, cloudB_managed_client_id: entra.cloudB_entra_client_id }],
    ['default', own],
  ])('accepts the fields of %s', (variant, config) => expect(wrongFields(variant, config)).toEqual([]));

  it.each(Object.keys(entra))('requires the field %s', (field) => {
    expect(wrongFields('entra', { ...entra, [field]: undefined })).toEqual([field]);
  });

  it.each([
    ['cloudB_entra_tenant_id', 'common'],
    ['cloudB_entra_tenant_id', 'organizations'],
    ['cloudB_entra_tenant_id', '../adfs'],
    ['cloudB_entra_tenant_id', 'contoso.com/oauth2?x='],
    ['cloudB_entra_tenant_id', `${TENANT}\n`],
    ['cloudB_entra_client_id', 'app'],
    ['cloudB_entra_client_secret', ''],
    ['cloudB_entra_client_secret', 7],
    ['cloudB_vault_url', null],
  ])('refuses in the field %s the value %p', (field, value) =>
    expect(wrongFields('entra', { ...entra, [field]: value })).toEqual([field]),
  );

  it('refuses fields of another variant, and null for an identity', () => {
    expect(wrongFields('default', { ...own, cloudB_entra_client_secret: 'x' })).toEqual(['cloudB_entra_client_secret']);
    expect(wrongFields('managed', { ...managed, cloudB_managed_client_id: null })).toEqual([
      'cloudB_managed_client_id',
    ]);
    expect(wrongFields('default', managed)).toEqual(['cloudB_auth_mode']);
  });

  it('seals the client secret', () => expect([...azureScheme.sensitive]).toEqual(['cloudB_entra_client_secret']));
});

describe('the vault', () => {
  it.each([
    VAULT,
    `${VAULT}/`,
    `${VAULT}:443`,
    'https://CONTOSO.vault.azure.net',
    'https://contoso.vault.azure.cn',
    'https://vault.private.example:8443',
  ])('accepts the vault %s', (url) => expect(vaultProblem(url)).toBeUndefined());

  it.each([
    ['contoso', 'an absolute URL'],
    ['http://contoso.vault.azure.net', 'https'],
    ['https://user@contoso.vault.azure.net', 'user name'],
    [`${VAULT}/secrets`, 'no path'],
    [`${VAULT}?x=1`, 'no path'],
    [`${VAULT}#x`, 'no path'],
    [`${VAULT}:8443`, 'no port'],
    ['https://vault.azure.net', 'AZURE_VAULT_HOSTS'],
    ['https://contoso.vault.azure.net.evil.example', 'AZURE_VAULT_HOSTS'],
    ['https://evilvault.azure.net', 'AZURE_VAULT_HOSTS'],
    ['https://sub.vault.private.example', 'AZURE_VAULT_HOSTS'],
    ['https://contoso.vault.azure.net.', 'AZURE_VAULT_HOSTS'],
    ['https://169.254.169.254', 'AZURE_VAULT_HOSTS'],
    ['https://localhost', 'AZURE_VAULT_HOSTS'],
  ])('refuses the vault %s', (url, part) => {
    expect(vaultProblem(url)).toMatch(/^auth_config\.cloudB_vault_url must /);
    expect(vaultProblem(url)).toContain(part);
  });

  it('refuses a vault that the egress rules refuse', () => {
    const local = { ...rules, azureVaultHosts: ['10.0.0.1', '.internal'] };
    for (const cloudB_vault_url of ['https://10.0.0.1', 'https://kv.internal']) {
      const [problem] = azureScheme.problems({ ...entra, cloudB_vault_url }, { path: 'a', version: undefined }, local);
      expect(problem?.message).toContain('EGRESS_ALLOW');
    }
  });
});

describe('the secret', () => {
  it.each([
    ['openai', undefined],
    ['openai', VERSION],
    [`openai/${VERSION}`, undefined],
    [`${VAULT}/secrets/openai`, VERSION],
    [`${VAULT}/secrets/openai/${VERSION}`, undefined],
    ['a'.repeat(127), undefined],
  ])('accepts the secret %s, version %s', (path, version) => expect(problems(entra, path, version)).toEqual([]));

  it.each([
    ['', undefined, 'secret_path'],
    ['a'.repeat(128), undefined, 'secret_path'],
    ['open_ai', undefined, 'secret_path'],
    ['../keys/openai', undefined, 'secret_path'],
    ['openai/', undefined, 'secret_path'],
    ['openai/1', undefined, 'secret_path'],
    [`openai/${VERSION}/x`, undefined, 'secret_path'],
    ['openai?api-version=1', undefined, 'secret_path'],
    ['https://fabrikam.vault.azure.net/secrets/openai', undefined, 'secret_path'],
    ['http://contoso.vault.azure.net/secrets/openai', undefined, 'secret_path'],
    [`${VAULT}/keys/openai`, undefined, 'secret_path'],
    [`${VAULT}/secrets/openai?x=1`, undefined, 'secret_path'],
    ['https://', undefined, 'secret_path'],
    ['openai', '1', 'secret_version'],
    ['openai', '', 'secret_version'],
    [`openai/${VERSION}`, VERSION, 'secret_version'],
  ])('refuses the secret %s, version %s', (path, version, param) => {
    const [problem, ...more] = problems(entra, path, version);
    expect([problem?.param, more]).toEqual([param, []]);
    expect(problem?.message).toMatch(new RegExp(`^${param} must be `));
  });
});

describe('identityTarget', () => {
  it('returns as identity target the secret in its vault for the identities of the gateway', () => {
    const expected = `${VAULT}/secrets/openai`;
    for (const config of [managed, own, { ...own, cloudB_vault_url: `${VAULT}:443/` }]) {
      for (const path of ['openai', `openai/${VERSION}`, `${VAULT}/secrets/openai/${VERSION}`]) {
        expect(azureScheme.identityTarget(config, { path, version: undefined })).toBe(expected);
      }
    }
  });

  it('returns no identity target for an application, and one for every other variant', () => {
    expect(azureScheme.identityTarget(entra, { path: 'openai', version: undefined })).toBeUndefined();
    expect(azureScheme.identityTarget({}, { path: '../x', version: undefined })).toBe('/secrets/../x');
  });
});
