import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { GatewayError } from '../../common/errors/gateway.error.js';
import type { JsonObject } from '../../common/json/read.js';
import type { AuthConfig } from '../managers/secret-manager.types.js';
import { sampleScheme } from './__fixtures__/sample.scheme.js';
import { readAuthConfig, maskAuthConfig } from './given-auth-config.js';
import { mergeAuthConfig } from './merge-auth-config.js';

const STORED = {
  vendorC_auth_type: 'token',
  vendorC_addr: 'https://a.example/x',
  vendorC_token: 'a-secret-of-16-characters',
};
const WITH_ROLE = {
  vendorC_auth_type: 'role',
  vendorC_addr: 'https://a.example',
  vendorC_role: 'r',
  vendorC_external: 'made-before',
};

function merge(stored: AuthConfig, config: JsonObject): JsonObject {
  return mergeAuthConfig(sampleScheme, stored, readAuthConfig(sampleScheme, config, 'vendor'), () => 'made');
}

function refusedFields(stored: AuthConfig, config: JsonObject): readonly unknown[] {
  try {
    merge(stored, config);
    return [];
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'validation_failed') throw error;
    return (error.details ?? []).map(({ param }) => param);
  }
}

describe('mergeAuthConfig', () => {
  it('uses the given fields when none are stored', () => {
    expect(merge({}, STORED)).toEqual(STORED);
    expect(merge({}, { ...STORED, vault_session: null })).toEqual(STORED);
  });

  it('replaces fields in either spelling, and removes those set to null', () => {
    const stored = { ...STORED, vendorC_session: 'session' };
    expect(merge(stored, {})).toEqual(stored);
    expect(merge(stored, { vault_token: 'other' })).toEqual({ ...stored, vendorC_token: 'other' });
    expect(merge(stored, { vendorC_session: null })).toEqual(STORED);
    expect(merge(STORED, { vault_session: null })).toEqual(STORED);
  });

  it('refuses to remove a field that no variant has', () => {
    expect(refusedFields(STORED, { vault_nothing: null, vault_role: null })).toEqual(['auth_config.vault_nothing']);
  });

  it('changes nothing when a caller sends back what it was shown', () => {
    const text = fc.string({ minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(text, text, fc.constantFrom('vendor', 'interface'), (token, session, spelling) => {
        const stored = { ...STORED, vendorC_token: token, vendorC_session: session };
        expect(merge(stored, maskAuthConfig(sampleScheme, spelling, stored))).toEqual(stored);
      }),
    );
  });

  it('keeps a secret whose mask is sent under its own name', () => {
    expect(merge(STORED, { vault_token: '****ters' })).toEqual(STORED);
  });

  it('refuses the mask of another value, and masks of fields that are not stored', () => {
    expect(refusedFields(STORED, { masked_vault_token: '****0000' })).toEqual(['auth_config.masked_vault_token']);
    const created = { ...STORED, masked_vault_token: '****' };
    expect(refusedFields({}, created)).toEqual(['auth_config.masked_vault_token']);
    expect(refusedFields(STORED, { masked_vault_addr: 'x' })).toEqual(['auth_config.masked_vault_addr']);
    expect(refusedFields(STORED, { masked_vault_token: '****ters', vault_token: 'new' })).toEqual([]);
  });

  it('refuses a wrong mask under the name of a secret, which would be stored as the secret', () => {
    expect(refusedFields(STORED, { vault_token: '****0000' })).toEqual(['auth_config.vault_token']);
    expect(refusedFields({}, { ...STORED, vault_token: '****' })).toEqual(['auth_config.vault_token']);
    expect(refusedFields(STORED, { vault_token: '****0000-no-mask' })).toEqual([]);
  });

  it.each(['constructor', 'toString', '__proto__'])(
    'knows no %s, which every object has: no mask is one of it',
    (name) => {
      const own = { [name]: '****' };
      expect(Object.hasOwn(merge(STORED, { ...STORED, ...own }), name)).toBe(true);
      expect(refusedFields(STORED, { [`masked_${name}`]: '****' })).toEqual([`auth_config.masked_${name}`]);
    },
  );

  it('drops fields that a newly chosen variant lacks, and only then', () => {
    expect(merge(STORED, { vault_auth_type: 'role', vault_role: 'r' })).toEqual({
      vendorC_auth_type: 'role',
      vendorC_addr: STORED.vendorC_addr,
      vendorC_role: 'r',
      vendorC_external: 'made',
    });
    expect(merge(WITH_ROLE, { vault_auth_type: 'token', vault_token: 'new' })).toEqual({
      vendorC_auth_type: 'token',
      vendorC_addr: WITH_ROLE.vendorC_addr,
      vendorC_token: 'new',
    });
    // Whatever is wrong with these is for the check to say.
    expect(merge(STORED, { vault_auth_type: 'unknown' })).toEqual({ ...STORED, vendorC_auth_type: 'unknown' });
    expect(merge(STORED, { vault_auth_type: null })).not.toHaveProperty('vendorC_auth_type');
  });

  it('makes the gateway’s own field once, and lets no caller choose it', () => {
    const { vendorC_external: _made, ...withoutIt } = WITH_ROLE;
    expect(merge({}, withoutIt)).toEqual({ ...withoutIt, vendorC_external: 'made' });
    expect(merge({}, { ...withoutIt, vault_external: null })).toEqual({ ...withoutIt, vendorC_external: 'made' });
    expect(merge(WITH_ROLE, { vault_role: 'other' })).toEqual({ ...WITH_ROLE, vendorC_role: 'other' });
    expect(merge(WITH_ROLE, { vault_external: 'made-before' })).toEqual(WITH_ROLE);
    expect(merge(WITH_ROLE, { vault_external: null })).toEqual(WITH_ROLE);
    for (const value of ['made', 'chosen', '', 7]) {
      expect(refusedFields({}, { ...withoutIt, vault_external: value })).toEqual(['auth_config.vault_external']);
      expect(refusedFields(WITH_ROLE, { vault_external: value })).toEqual(['auth_config.vault_external']);
    }
  });

  it.each([
    'https://b.example',
    'https://a.example:8200',
    'http://a.example/x',
    'https://a.example.evil.example',
    'https://a.example@evil.example',
    'no url',
    '',
    null,
    7,
  ])('does not send a stored secret to %j', (vault_addr) => {
    const stored = { ...STORED, vendorC_session: 'session' };
    const secrets = ['auth_config.vault_token', 'auth_config.vault_session'];
    expect(refusedFields(stored, { vault_addr })).toEqual(secrets);
    expect(refusedFields(stored, { vault_addr, vault_token: 'mine' })).toEqual(secrets.slice(1));
    expect(refusedFields(stored, { vault_addr, vault_token: 'mine', vault_session: null })).toEqual([]);
    expect(refusedFields(stored, { vault_addr, vault_auth_type: 'role' })).toEqual([]);
  });

  it.each(['https://a.example', 'https://A.example/x', 'https://a.example:443/y'])(
    'sends a stored secret to the same host %s',
    (vault_addr) => {
      expect(merge(STORED, { vault_addr })).toEqual({ ...STORED, vendorC_addr: vault_addr });
    },
  );
});
