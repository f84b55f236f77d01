import { describe, expect, it } from '@jest/globals';
import { loadConfig } from '../config/environment.js';
import { IdentityAllowList } from './identity-allow-list.js';

const MINE = '3f0c2a52-7a8e-4f57-9a3e-0d7a9f1b2c3d';
const THEIRS = '9b2d7c11-3e1f-4a53-8c0e-6f4f0a2b1d5e';

function allowing(entry: string): IdentityAllowList {
  return new IdentityAllowList(loadConfig({ SECRET_IDENTITY_ALLOW: entry }));
}

describe('the allow-list of the gateway’s own identity', () => {
  it('allows no use of the gateway’s identity by default', () => {
    expect(new IdentityAllowList(loadConfig({})).allows(MINE, 'cloudA_sm', 'prod/x')).toBe(false);
  });

  it('allows an identity by organisation, manager and target together', () => {
    const list = allowing(`${MINE} aws_sm prod/*`);
    expect(list.allows(MINE, 'cloudA_sm', 'prod/a/b')).toBe(true);
    expect(list.allows(THEIRS, 'cloudA_sm', 'prod/a')).toBe(false);
    expect(list.allows(MINE, 'cloudB_kv', 'prod/a')).toBe(false);
    expect(list.allows(MINE, 'cloudA_sm', 'not/prod/a')).toBe(false);
    expect(list.allows(MINE, 'cloudA_sm', 'prodXa')).toBe(false);
  });

  it('accepts organisation ids in capitals, on either side', () => {
    expect(allowing(`${MINE.toUpperCase()} aws_sm prod/*`).allows(MINE, 'cloudA_sm', 'prod/a')).toBe(true);
    const list = allowing(`${MINE} aws_sm prod/*`);
    expect(list.allows(MINE.toUpperCase(), 'cloudA_sm', 'prod/a')).toBe(true);
    expect(list.allows(THEIRS.toUpperCase(), 'cloudA_sm', 'prod/a')).toBe(false);
    expect(list.allows(MINE, 'cloudA_sm', 'PROD/a')).toBe(false);
  });

  it.each(['ORG aws_sm a', 'my-org aws_sm a', `** aws_sm a`, `${MINE}0 aws_sm a`, `x${MINE} aws_sm a`, '* aws prod/*'])(
    'refuses an entry with an unknown form of organisation or manager: %s',
    (entry) => {
      expect(() => allowing(entry)).toThrow('SECRET_IDENTITY_ALLOW must list entries of the form');
      expect(() => allowing(`* aws_sm b, ${entry}`)).toThrow('SECRET_IDENTITY_ALLOW');
    },
  );

  it.each([
    ['* hashicorp_vault https://*.corp.example#app', 'https://vault.corp.example#app', true],
    ['* hashicorp_vault https://*.corp.example#app', 'https://evil.example/.corp.example#app', false],
    ['* hashicorp_vault https://vault-*:8200#app', 'https://vault-a.evil.example/x:8200#app', false],
    ['* hashicorp_vault https://vault.example#app-*', 'https://vault.example#app-a', true],
    ['* hashicorp_vault https://vault.example/*#app', 'https://vault.example/a/b#app', true],
    ['* hashicorp_vault *', 'https://any.example/x#app', true],
  ])('matches a star in a host within the host only: %s, %s', (entry, target, expected) => {
    expect(allowing(entry).allows(MINE, 'vendorC_vault', target)).toBe(expected);
  });

  it.each([
    ['* azure_kv https://acme-*.vault.azure.net/secrets/*', 'https://acme-a.vault.azure.net/secrets/x', true],
    ['* azure_kv https://acme.vault.azure.net/secrets/prod-*', 'https://acme.vault.azure.net/secrets/prod-x', true],
    ['* azure_kv https://acme.vault.azure.net/secrets/prod-*', 'https://acme-vault.azure.net/secrets/prod-x', false],
  ])('compares the rest of an address literally: %s, %s', (entry, target, expected) => {
    expect(allowing(entry).allows(MINE, 'cloudB_kv', target)).toBe(expected);
  });
});
