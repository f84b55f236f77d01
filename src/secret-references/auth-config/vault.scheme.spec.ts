import { describe, expect, it } from '@jest/globals';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { selfSignedCertificate } from '../../upstream/__fixtures__/certificate.js';
import { EgressPolicy } from '../../upstream/egress/egress-policy.js';
import type { AuthConfig } from '../managers/secret-manager.types.js';
import type { SecretAddress } from './auth-scheme.types.js';
import { vaultScheme } from './vault.scheme.js';

const ADDR = 'https://vault.example.com:8200';
const ADDRESS: SecretAddress = { path: 'secret/db', version: undefined };
const VALID: Readonly<Record<string, AuthConfig>> = {
  token: { vendorC_auth_type: 'token', vendorC_addr: ADDR, vendorC_token: 'hvs.0123456789' },
  approle: {
    vendorC_auth_type: 'approle',
    vendorC_addr: ADDR,
    vendorC_role_id: '59d6d1ca-47bb-4e7e-a40b-8be3bc5a0ba8',
    vendorC_secret_id: '84896a0c-1347-aa90-a4f6-aca8b7558780',
  },
  kubernetes: { vendorC_auth_type: 'kubernetes', vendorC_addr: ADDR, vendorC_role: 'gateway' },
  jwt: { vendorC_auth_type: 'jwt', vendorC_addr: ADDR, vendorC_role: 'ci', vendorC_jwt: 'e30.e30.c2ln' },
};
const approle = VALID['approle'] ?? {};
const kubernetes = VALID['kubernetes'] ?? {};

/** The fields of a config that break a rule of their own. */
function brokenFields(config: AuthConfig): readonly string[] {
  const variant = vaultScheme.variants[config[vaultScheme.discriminator] ?? ''];
  if (variant === undefined) return [vaultScheme.discriminator];
  const errors = validateSync(plainToInstance(variant, config), { whitelist: true, forbidNonWhitelisted: true });
  return errors.map(({ property }) => property);
}

function problems(config: AuthConfig, address: Partial<SecretAddress> = {}, allow: readonly string[] = []): unknown {
  const rules = { egress: new EgressPolicy(allow), azureVaultHosts: [] };
  const found = vaultScheme.problems(config, { ...ADDRESS, ...address }, rules);
  for (const { param, message } of found) expect(message.startsWith(`${param} `)).toBe(true);
  return found.map(({ param }) => param);
}

describe('the variants', () => {
  it.each(Object.keys(VALID))('accepts the fields that %s needs', (variant) => {
    const config = VALID[variant] ?? {};
    expect(brokenFields(config)).toEqual([]);
    expect(problems(config)).toEqual([]);
    const more = { vendorC_namespace: 'admin/team-a/', vendorC_kv_version: '2' };
    expect(brokenFields({ ...config, ...more })).toEqual([]);
  });

  it.each(Object.entries(VALID).flatMap(([variant, config]) => Object.keys(config).map((field) => [variant, field])))(
    '%s needs %s',
    (variant = '', field = '') => {
      const { [field]: _taken, ...rest } = VALID[variant] ?? {};
      expect(brokenFields(rest)).toEqual([field]);
    },
  );

  it('accepts a mount for every variant with a login', () => {
    for (const [variant, config] of Object.entries(VALID)) {
      const broken = brokenFields({ ...config, vendorC_auth_mount: 'team/login' });
      expect(broken).toEqual(variant === 'token' ? ['vendorC_auth_mount'] : []);
    }
  });

  it('refuses the fields of another variant', () => {
    expect(brokenFields({ ...approle, vendorC_token: 'hvs.0123456789' })).toEqual(['vendorC_token']);
    expect(brokenFields({ ...kubernetes, vendorC_jwt: 'e30.e30.c2ln' })).toEqual(['vendorC_jwt']);
  });

  it.each([
    ['vendorC_addr', ['vault.example.com', 'ftp://vault', 'https://vault?a', 'https://vault#a', 'https://v/a%2fb', '']],
    ['vendorC_namespace', ['', '/', '/a', 'a//b', '../a', 'a/..', 'a/.b', 'a\nb', 'a b', 'a?', 'x'.repeat(256)]],
    ['vendorC_auth_mount', ['', '../token', 'a/../b', 'a\r\nb', 'a%2f']],
    ['vendorC_kv_version', ['0', '3', 'v2', '']],
    ['vendorC_role_id', ['', 'a\nb', 'a b', 'x'.repeat(4_097)]],
    ['vendorC_secret_id', ['', 'a\nb', 'é', 'x'.repeat(4_097)]],
  ])('refuses in %s: %j', (field, values) => {
    for (const value of values) expect([value, brokenFields({ ...approle, [field]: value })]).toEqual([value, [field]]);
  });

  it.each(['', 'a/b', 'a#b', 'a*', '-a', 'a b'])('refuses the role %j', (vendorC_role) => {
    expect(brokenFields({ ...kubernetes, vendorC_role })).toEqual(['vendorC_role']);
  });

  it.each(['', 'text', 'a.b', 'a.b.c.d', 'a.b.c\n'])('refuses the JSON Web Token %j', (vendorC_jwt) => {
    expect(brokenFields({ ...VALID['jwt'], vendorC_jwt })).toEqual(['vendorC_jwt']);
  });
});

describe('vendorC_ca_cert', () => {
  const one = selfSignedCertificate('vault.example.com');
  const two = selfSignedCertificate('other.example.com');

  it.each([
    ['one certificate', one.cert],
    ['several', `${one.cert}\n${two.cert}`],
    ['line breaks of Windows', one.cert.replaceAll('\n', '\r\n')],
  ])('accepts as CA certificates %s', (_what, vendorC_ca_cert) => {
    expect(brokenFields({ ...approle, vendorC_ca_cert })).toEqual([]);
  });

  it.each([
    ['nothing', ''],
    ['a path', '/etc/ssl/ca.pem'],
    ['a private key', one.key],
    ['a private key beside it', one.cert + one.key],
    ['half a certificate', one.cert.slice(0, 100)],
    ['an invalid certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
    [
      'two certificates of which one is invalid',
      `${one.cert}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
    ],
  ])('refuses as CA certificates %s', (_what, vendorC_ca_cert) => {
    expect(brokenFields({ ...approle, vendorC_ca_cert })).toEqual(['vendorC_ca_cert']);
  });
});

describe('problems', () => {
  it.each(['https://vault.example.com', 'https://vault.example.com/behind/proxy/'])(
    'accepts the address %s',
    (addr) => {
      expect(problems({ ...approle, vendorC_addr: addr })).toEqual([]);
    },
  );

  it.each([
    'http://vault.example.com',
    'https://user:password@vault.example.com',
    'https://169.254.169.254',
    'https://127.0.0.1:8200',
    'https://[::1]:8200',
    'https://vault.internal',
    'https://vault.example.com/v1/',
    'https://vault.example.com/a/../b',
    'https://vault.example.com:99999',
  ])('refuses the address %s', (vendorC_addr) => {
    expect(problems({ ...approle, vendorC_addr })).toEqual(['auth_config.vendorC_addr']);
  });

  it('accepts http and private addresses that EGRESS_ALLOW names', () => {
    expect(problems({ ...approle, vendorC_addr: 'http://10.0.0.5:8200' }, {}, ['10.0.0.5'])).toEqual([]);
  });

  it.each(['/v1/secret/db', 'secret', 'secret/../db', 'secret/db?version=1'])('refuses the path %s', (path) => {
    expect(problems(approle, { path })).toEqual(['secret_path']);
  });

  it('accepts versions that are positive integers, where there are versions', () => {
    expect(problems(approle, { version: '12' })).toEqual([]);
    for (const version of ['0', '-1', '1.5', 'AWSCURRENT', '01', '1234567890']) {
      expect(problems(approle, { version })).toEqual(['secret_version']);
    }
    expect(problems({ ...approle, vendorC_kv_version: '2' }, { version: '1' })).toEqual([]);
    expect(problems({ ...approle, vendorC_kv_version: '1' }, { version: '1' })).toEqual(['secret_version']);
  });

  it('refuses a mount that names auth/ again', () => {
    expect(problems({ ...approle, vendorC_auth_mount: 'auth/approle' })).toEqual(['auth_config.vendorC_auth_mount']);
  });
});

describe('identityTarget', () => {
  const target = (config: AuthConfig): string | undefined => vaultScheme.identityTarget(config, ADDRESS);

  it('returns an identity target for variants that use the identity of the gateway', () => {
    for (const [variant, config] of Object.entries(VALID)) {
      expect(target(config)).toBe(variant === 'kubernetes' ? `${ADDR}#gateway` : undefined);
    }
  });

  it.each([
    [{ vendorC_addr: 'https://Vault.Example.com:443/' }, 'https://vault.example.com#gateway'],
    [{ vendorC_addr: 'https://vault.example.com/x/' }, 'https://vault.example.com/x#gateway'],
    [{ vendorC_namespace: 'admin/team-a/' }, `${ADDR}#admin/team-a/gateway`],
    [{ vendorC_auth_mount: 'kubernetes/' }, `${ADDR}#gateway`],
    [{ vendorC_auth_mount: 'cluster-b' }, `${ADDR}#gateway@cluster-b`],
    [{ vendorC_namespace: 'a', vendorC_auth_mount: 'b' }, `${ADDR}#a/gateway@b`],
    [{ vendorC_addr: 'not a URL' }, 'not a URL#gateway'],
  ])('returns for %j the identity target %s', (changes, expected) => {
    expect(target({ ...kubernetes, ...changes })).toBe(expected);
  });
});

it('treats tokens, secret ids and signed tokens as secret', () => {
  expect([...vaultScheme.sensitive].sort()).toEqual(['vendorC_jwt', 'vendorC_secret_id', 'vendorC_token']);
});
