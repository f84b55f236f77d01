import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../common/errors/gateway.error.js';
import { KeyRing, parseMasterKey } from '../sealing/key-ring.js';
import { Sealer } from '../sealing/sealer.js';
import { SecretReference } from './secret-reference.entity.js';
import { SecretReferenceEncryptor } from './secret-reference.credentials.js';

const vault = newVault();

function newVault(): SecretReferenceEncryptor {
  return new SecretReferenceEncryptor(new Sealer(new KeyRing(parseMasterKey(randomBytes(32).toString('base64')))));
}

function rowWith(fields: Partial<SecretReference>): SecretReference {
  const row = { id: randomUUID(), organisationId: randomUUID(), authConfig: {}, sealedAuthConfig: null, ...fields };
  return Object.assign(new SecretReference(), row);
}

function opens(row: SecretReference, opener = vault): boolean {
  try {
    opener.open(row);
    return true;
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'secret_unavailable') return false;
    throw error;
  }
}

describe('SecretReferenceEncryptor', () => {
  it('opens the sealed fields together with the open ones', () => {
    const row = rowWith({ authConfig: { vendorC_addr: 'https://a.example' } });
    row.sealedAuthConfig = vault.seal(row, { vendorC_token: 'secret' });
    expect(row.sealedAuthConfig).not.toContain('secret');
    expect(vault.open(row)).toEqual({ vendorC_addr: 'https://a.example', vendorC_token: 'secret' });
  });

  it('seals nothing when there is no secret', () => {
    const row = rowWith({ authConfig: { cloudA_region: 'eu-central-1' } });
    expect(vault.seal(row, {})).toBeNull();
    expect(vault.open(row)).toEqual({ cloudA_region: 'eu-central-1' });
  });

  it('opens no value of another row, another organisation or another master key', () => {
    const place = { id: randomUUID(), organisationId: randomUUID() };
    const sealedAuthConfig = vault.seal(place, { vendorC_token: 'secret' });
    expect(opens(rowWith({ ...place, sealedAuthConfig }))).toBe(true);
    expect(opens(rowWith({ ...place, id: randomUUID(), sealedAuthConfig }))).toBe(false);
    expect(opens(rowWith({ ...place, organisationId: randomUUID(), sealedAuthConfig }))).toBe(false);
    expect(opens(rowWith({ ...place, sealedAuthConfig }), newVault())).toBe(false);
    expect(opens(rowWith({ sealedAuthConfig: 'junk' }))).toBe(false);
  });
});
