import { describe, expect, it } from '@jest/globals';
import { KeyRing, parseMasterKey } from '../sealing/key-ring.js';
import { SealError, Sealer } from '../sealing/sealer.js';
import { WebhookEncryptor } from './webhook.encryption.js';

const NOW = new Date('2026-11-21T12:00:00Z');
const LATER = new Date(NOW.getTime() + 1);
const ROW = { id: 'endpoint-1', organisationId: 'org-1' };
const vault = vaultWith(1);

function vaultWith(fill: number): WebhookEncryptor {
  return new WebhookEncryptor(new Sealer(new KeyRing(parseMasterKey(Buffer.alloc(32, fill).toString('base64')))));
}

describe('WebhookEncryptor', () => {
  it('makes a new secret each time, in the form of Standard Webhooks, and shows nothing of it sealed', () => {
    const [first, second] = [vault.issue(ROW), vault.issue(ROW)];
    expect(first.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(first.secret).not.toBe(second.secret);
    expect(first.columns.sealedSecret).not.toContain(first.secret.slice(6, 20));
    expect(vault.signingSecrets({ ...ROW, ...first.columns }, NOW)).toEqual([first.secret]);
  });

  it('signs with the previous secret too until its time is over', () => {
    const first = vault.issue(ROW);
    const rotated = vault.rotate({ ...ROW, ...first.columns }, LATER);
    const row = { ...ROW, ...rotated.columns };
    expect(vault.signingSecrets(row, NOW)).toEqual([rotated.secret, first.secret]);
    expect(vault.signingSecrets(row, LATER)).toEqual([rotated.secret]);
    const again = vault.rotate(row, LATER);
    expect(vault.signingSecrets({ ...ROW, ...again.columns }, NOW)).toEqual([again.secret, rotated.secret]);
  });

  it('ends the previous secret at once when it has no time left', () => {
    const rotated = vault.rotate({ ...ROW, ...vault.issue(ROW).columns }, undefined);
    expect(rotated.columns).toMatchObject({ sealedPreviousSecret: null, previousSecretValidUntil: null });
    expect(vault.signingSecrets({ ...ROW, ...rotated.columns }, NOW)).toEqual([rotated.secret]);
  });

  it('opens no secret in another place or without its master key', () => {
    const { columns, secret } = vault.issue(ROW);
    const row = { ...ROW, ...columns };
    expect(() => vault.signingSecrets({ ...row, id: 'endpoint-2' }, NOW)).toThrow(SealError);
    expect(() => vault.signingSecrets({ ...row, organisationId: 'org-2' }, NOW)).toThrow(SealError);
    expect(() => vaultWith(2).signingSecrets(row, NOW)).toThrow(SealError);
    const moved = { ...row, sealedPreviousSecret: columns.sealedSecret, previousSecretValidUntil: LATER };
    expect(vault.signingSecrets(moved, NOW)).toEqual([secret]);
  });

  it('signs with the current secret alone while the former one does not open', () => {
    const lost = { ...ROW, ...vault.rotate({ ...ROW, ...vault.issue(ROW).columns }, LATER).columns };
    const { sealedSecret, sealedPreviousSecret } = lost;
    const damaged = { ...lost, sealedPreviousSecret: `${String(sealedPreviousSecret).slice(0, -4)}AAAA` };
    expect(vault.signingSecrets(lost, NOW)).toHaveLength(2);
    expect(vault.signingSecrets(damaged, NOW)).toEqual(vault.signingSecrets(lost, LATER));
    expect(() => vault.signingSecrets({ ...lost, sealedSecret: `${sealedSecret.slice(0, -4)}AAAA` }, NOW)).toThrow(
      SealError,
    );
  });

  it('makes a new secret when the old one does not open', () => {
    const lost = { ...ROW, ...vaultWith(2).issue(ROW).columns };
    const rotated = vault.rotate(lost, LATER);
    expect(vault.signingSecrets({ ...ROW, ...rotated.columns }, NOW)).toEqual([rotated.secret]);
  });
});
