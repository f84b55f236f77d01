import { describe, expect, it } from '@jest/globals';
import { type ErrorDetail, GatewayError } from '../../common/errors/gateway.error.js';
import type { JsonObject } from '../../common/json/read.js';
import { SAMPLE_RULES, sampleScheme } from './__fixtures__/sample.scheme.js';
import { checkAuthConfig } from './check-auth-config.js';
import { toSpelling } from './scheme-fields.js';

const VALID = { vendorC_auth_type: 'token', vendorC_addr: 'https://a.example', vendorC_token: 'secret' };

function check(config: JsonObject, path = 'a/b') {
  const nameOf = (field: string): string => toSpelling(sampleScheme, 'vendor', field);
  return checkAuthConfig(sampleScheme, config, { path, version: '7' }, SAMPLE_RULES, nameOf);
}

function problemsOf(config: JsonObject, path?: string): readonly ErrorDetail[] {
  try {
    check(config, path);
    return [];
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'validation_failed') throw error;
    return error.details ?? [];
  }
}

const paramsOf = (config: JsonObject): readonly unknown[] => problemsOf(config).map(({ param }) => param);

describe('checkAuthConfig', () => {
  it('returns the fields that it checked', () => {
    expect(check(VALID)).toEqual(VALID);
    expect(check({ ...VALID, vendorC_session: 'four' })).toEqual({ ...VALID, vendorC_session: 'four' });
  });

  it.each([undefined, null, 7, '', 'password', 'toString', '__proto__', ['token']])(
    'knows no variant %j',
    (variant) => {
      const [found] = problemsOf({ ...VALID, vendorC_auth_type: variant });
      expect(found?.param).toBe('auth_config.vault_auth_type');
      expect(found?.message).toMatch(/ token, role$/);
    },
  );

  it('names every broken field as the caller does, with a message that begins with the name', () => {
    const broken = { ...VALID, vendorC_addr: 7, vendorC_token: 'x', vendorC_session: 'y', vault_extra: 1 };
    const found = problemsOf(broken);
    expect(new Set(found.map(({ param }) => param))).toEqual(
      new Set(['vault_extra', 'vault_addr', 'vault_token', 'vault_session'].map((name) => `auth_config.${name}`)),
    );
    for (const { param, message } of found) expect(message.startsWith(`${param} `)).toBe(true);
    expect(JSON.stringify(found)).not.toContain('vendorC');
  });

  it('requires the fields of the variant, and names the variant of a foreign one', () => {
    expect(paramsOf({ vendorC_auth_type: 'token' })).toEqual(['auth_config.vault_addr', 'auth_config.vault_token']);
    const [foreign] = problemsOf({ ...VALID, vendorC_role: 'r' });
    expect(foreign?.message).toBe('auth_config.vault_role does not go with vault_auth_type = token');
    expect(paramsOf({ ...VALID, vendorC_external: 'e' })).toEqual(['auth_config.vault_external']);
  });

  it('accepts the field that the gateway made', () => {
    const config = { vendorC_auth_type: 'role', vendorC_addr: 'a', vendorC_role: 'r', vendorC_external: 'made' };
    expect(check(config)).toEqual(config);
  });

  it("reports the scheme's own problems under the caller's names of the fields", () => {
    expect(problemsOf({ ...VALID, vendorC_addr: 'https://no.example' }, 'bad')).toEqual([
      { param: 'auth_config.vault_addr', message: 'auth_config.vault_addr must suit vault_role, vendorC_unknown' },
      { param: 'secret_path', message: 'secret_path must not be bad (7)' },
    ]);
  });
});
