import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { authScheme } from './auth-schemes.js';
import { readAuthConfig } from './given-auth-config.js';

function paramsOf(work: () => unknown): readonly unknown[] {
  try {
    work();
    return [];
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return (error.details ?? []).map(({ param }) => param);
  }
}

describe('readAuthConfig', () => {
  it('reads fields of either spelling, and masks separately', () => {
    const { fields, masks } = readAuthConfig(
      authScheme('cloudA_sm'),
      { aws_region: 'r', cloudA_auth_type: 't', masked_aws_secret_access_key: '****', other: 1 },
      'interface',
    );
    expect(Object.fromEntries(fields)).toEqual({ cloudA_region: 'r', cloudA_auth_type: 't', other: 1 });
    const name = 'masked_aws_secret_access_key';
    expect(Object.fromEntries(masks)).toEqual({ cloudA_secret_access_key: { name, value: '****' } });
  });

  it('names a field as the caller does, and others in the spelling of the first that has one', () => {
    const nameOf = (config: Readonly<Record<string, unknown>>): readonly string[] =>
      ['cloudA_region', 'cloudA_role_arn'].map(readAuthConfig(authScheme('cloudA_sm'), config, 'vendor').nameOf);
    expect(nameOf({})).toEqual(['aws_region', 'aws_role_arn']);
    expect(nameOf({ other: 1, cloudA_auth_type: 't', aws_region: 'r' })).toEqual(['aws_region', 'cloudA_role_arn']);
    expect(nameOf({ aws_auth_type: 't', cloudA_region: 'r' })).toEqual(['cloudA_region', 'aws_role_arn']);
    expect(nameOf({ vault_addr: 'of another manager' })).toEqual(['aws_region', 'aws_role_arn']);
  });

  it('refuses a field, or a mask, that is given in both spellings', () => {
    const both = { vault_addr: 'a', vendorC_addr: 'a', masked_vault_token: 'm', masked_vendorC_token: 'm' };
    const params = ['auth_config.vendorC_addr', 'auth_config.masked_vendorC_token'];
    expect(paramsOf(() => readAuthConfig(authScheme('vendorC_vault'), both, 'vendor'))).toEqual(params);
    const fieldAndMask = { vault_token: 't', masked_vendorC_token: 'm' };
    expect(paramsOf(() => readAuthConfig(authScheme('vendorC_vault'), fieldAndMask, 'vendor'))).toEqual([]);
  });

  it('reads fields under names that every object inherits', () => {
    const config: Readonly<Record<string, unknown>> = JSON.parse('{"__proto__":{"vault_addr":"a"},"constructor":1}');
    const { fields } = readAuthConfig(authScheme('vendorC_vault'), config, 'vendor');
    expect([...fields.keys()]).toEqual(['__proto__', 'constructor']);
  });
});
