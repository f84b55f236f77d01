import { describe, expect, it } from '@jest/globals';
import { SecretError } from './secret-manager.types.js';
import { readLease } from './vault-login.js';

const ASKED_AT = 1_000_000;
const auth = { client_token: 'hvs.abc', lease_duration: 60, renewable: true, token_type: 'service', num_uses: 0 };

describe('readLease', () => {
  it('counts a lease from the moment of its request', () => {
    expect(readLease({ auth }, ASKED_AT)).toEqual({
      token: 'hvs.abc',
      durationMs: 60_000,
      renewAt: ASKED_AT + 40_000,
      expiresAt: ASKED_AT + 60_000,
      isRenewable: true,
      usesLeft: undefined,
    });
  });

  it('reads leases without an end', () => {
    const endless = { renewAt: Infinity, expiresAt: Infinity };
    expect(readLease({ auth: { ...auth, lease_duration: 0 } }, ASKED_AT)).toMatchObject(endless);
  });

  it.each([
    ['it says so', { renewable: false }],
    ['it does not say', { renewable: undefined }],
    ['it is a batch token', { token_type: 'batch' }],
    ['a renewal would be one of its uses', { num_uses: 3 }],
  ])('does not renew a lease when %s', (_what, changes) => {
    expect(readLease({ auth: { ...auth, ...changes } }, ASKED_AT).isRenewable).toBe(false);
  });

  it.each([
    ['no lease', undefined],
    ['no token', { ...auth, client_token: undefined }],
    ['an empty token', { ...auth, client_token: '' }],
    ['a token that no header can hold', { ...auth, client_token: 'a\r\nx-evil: 1' }],
    ['a token without an end', { ...auth, client_token: 'x'.repeat(8_193) }],
    ['no duration', { ...auth, lease_duration: null }],
    ['a duration of another kind', { ...auth, lease_duration: '60' }],
  ])('refuses a lease with %s, and does not repeat it', (_what, broken) => {
    const read = (): unknown => readLease({ auth: broken }, ASKED_AT);
    expect(read).toThrow(SecretError);
    expect(read).toThrow(/^invalid_response: expected [a-z ]+ at auth[a-z._]*$/);
  });
});
