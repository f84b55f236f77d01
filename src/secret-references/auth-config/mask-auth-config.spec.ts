import { describe, expect, it } from '@jest/globals';
import { sampleScheme } from './__fixtures__/sample.scheme.js';
import { maskAuthConfig, unreadableSecrets } from './given-auth-config.js';

const OPEN = { vendorC_auth_type: 'token', vendorC_addr: 'https://a.example' };

describe('maskAuthConfig', () => {
  it('shows open fields in the requested spelling, and the end of secrets under another name', () => {
    const config = { ...OPEN, vendorC_token: 'a-secret-of-16-characters', vendorC_session: 'short' };
    expect(maskAuthConfig(sampleScheme, 'vendor', config)).toEqual({
      vault_auth_type: 'token',
      vault_addr: 'https://a.example',
      masked_vault_token: '****ters',
      masked_vault_session: '****',
    });
    expect(maskAuthConfig(sampleScheme, 'interface', OPEN)).toEqual(OPEN);
  });

  it('shows that there may be secrets when they do not open', () => {
    const masked = maskAuthConfig(sampleScheme, 'vendor', unreadableSecrets(sampleScheme, OPEN));
    expect(masked).toEqual({ masked_vault_token: '****', masked_vault_session: '****' });
    expect(unreadableSecrets(sampleScheme, { vendorC_auth_type: 'role' })).toEqual({});
    expect(unreadableSecrets(sampleScheme, {})).toEqual({});
  });
});
