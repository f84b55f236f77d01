import { describe, expect, it } from '@jest/globals';
import { validateSync } from 'class-validator';
import { EgressPolicy } from '../../upstream/egress/egress-policy.js';
import type { AuthConfig } from '../managers/secret-manager.types.js';
import type { SecretAddress } from './auth-scheme.types.js';
import { awsScheme } from './aws.scheme.js';

const ARN = 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:prod/key-AbCdEf';
const VALID: Readonly<Record<string, AuthConfig>> = {
  accessKey: {
    cloudA_auth_type: 'accessKey',
    cloudA_access_key_id: 'AKIAIOSFODNN7EXAMPLE',
    cloudA_secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    cloudA_region: 'eu-central-1',
  },
  assumedRole: {
    cloudA_auth_type: 'assumedRole',
    cloudA_role_arn: 'arn:aws:iam::111122223333:role/secrets/reader',
    cloudA_region: 'eu-central-1',
  },
  serviceRole: { cloudA_auth_type: 'serviceRole', cloudA_region: 'eu-central-1' },
};

/** Names of the fields that break a rule of theirs. */
function brokenFields(variant: string, changes: Readonly<Record<string, unknown>>): readonly string[] {
  const type = awsScheme.variants[variant];
  if (type === undefined) throw new Error(`no variant ${variant}`);
  const config = Object.assign(new type(), { ...VALID[variant], ...changes });
  return validateSync(config, { forbidUnknownValues: false }).map((error) => error.property);
}

/** Names of the parameters that break a rule between fields. */
function problems(variant: string, address: Partial<SecretAddress>, changes: Record<string, string | undefined> = {}) {
  const fields = Object.entries({ ...VALID[variant], ...changes });
  const config = Object.fromEntries(fields.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
  const rules = { egress: new EgressPolicy([]), azureVaultHosts: [] };
  const found = awsScheme.problems(config, { path: 'prod/key', version: undefined, ...address }, rules);
  expect(found.every(({ param, message }) => message.startsWith(`${param} `))).toBe(true);
  return found.map(({ param }) => param);
}

describe('the fields of awsScheme', () => {
  it.each(Object.keys(VALID))('accepts a valid %s', (variant) => {
    expect(brokenFields(variant, {})).toEqual([]);
  });

  it.each([
    ['accessKey', 'cloudA_auth_type', ['serviceRole', undefined]],
    [
      'accessKey',
      'cloudA_access_key_id',
      [undefined, null, 1, '', 'A'.repeat(129), 'AKIA IOSFODNN7EXAMPLE', 'AKIA/20261121'],
    ],
    ['accessKey', 'cloudA_secret_access_key', [undefined, null, '', 'with space', 'line\nbreak', 'ü', 'x'.repeat(257)]],
    ['accessKey', 'cloudA_session_token', [null, '', 'line\r\nbreak', 'x'.repeat(8_193)]],
    [
      'assumedRole',
      'cloudA_role_arn',
      [
        undefined,
        'reader',
        'arn:aws:iam::111122223333:user/reader',
        'arn:aws:iam::1111:role/reader',
        'arn:aws:iam::111122223333:role/',
        'arn:aws:iam::111122223333:role/a b',
        `arn:aws:iam::111122223333:role/${'r'.repeat(513)}`,
      ],
    ],
  ])('refuses in %s a wrong %s', (variant, field, values) => {
    for (const value of values) expect(brokenFields(variant, { [field]: value })).toEqual([field]);
  });

  it.each(['accessKey', 'assumedRole', 'serviceRole'])('accepts in %s a region only by its name', (variant) => {
    for (const region of ['us-east-1', 'us-gov-west-1', 'us-isob-east-1', 'eusc-de-east-1', 'cn-north-1', 'region-1']) {
      expect(brokenFields(variant, { cloudA_region: region })).toEqual([]);
    }
    const hosts = ['evil.example.com', 'us-east-1.evil.com', 'us-east-1/', 'us-east-1#', '127.0.0.1', 'localhost'];
    const junk = [
      '',
      null,
      7,
      'US-EAST-1',
      'us-east',
      'us-east-1\n',
      ' us-east-1',
      'us-east-12345',
      `us-${'a'.repeat(29)}-1`,
    ];
    for (const region of [...hosts, ...junk]) {
      expect(brokenFields(variant, { cloudA_region: region })).toEqual(['cloudA_region']);
    }
  });

  it('requires a region for every variant but serviceRole, and no session token', () => {
    expect(brokenFields('serviceRole', { cloudA_region: undefined })).toEqual([]);
    expect(brokenFields('accessKey', { cloudA_region: undefined })).toEqual(['cloudA_region']);
    expect(brokenFields('assumedRole', { cloudA_region: undefined })).toEqual(['cloudA_region']);
    expect(brokenFields('accessKey', { cloudA_session_token: 'a-token' })).toEqual([]);
  });

  it('treats the key as secret and leaves the external id to the gateway', () => {
    expect([...awsScheme.sensitive]).toEqual([
      'cloudA_access_key_id',
      'cloudA_secret_access_key',
      'cloudA_session_token',
    ]);
    expect(awsScheme.generated).toEqual({ variant: 'assumedRole', field: 'cloudA_external_id' });
  });
});

describe('awsScheme.problems', () => {
  it.each(['prod/key', 'rds!db-1', 'k'.repeat(1_024), 'Ein Schlüssel'])('accepts the name %p', (path) => {
    expect(problems('accessKey', { path })).toEqual([]);
  });

  it.each([
    ['no name', ''],
    ['too long a name', 'k'.repeat(1_025)],
    ['a line break', 'prod/key\n'],
    ['a NUL', 'prod\0key'],
    ['a control character beyond ASCII', 'prod\u0085key'],
  ])('refuses as a name %s', (_what, path) => {
    expect(problems('accessKey', { path })).toEqual(['secret_path']);
  });

  it.each([ARN, ARN.slice(0, -7), ARN.replace('arn:aws:', 'arn:aws-us-gov:')])('accepts the ARN %s', (path) => {
    for (const variant of Object.keys(VALID)) expect(problems(variant, { path })).toEqual([]);
  });

  it.each([
    ['a bucket', 'arn:aws:s3:::bucket'],
    ['a role', 'arn:aws:iam::111122223333:role/reader'],
    ['a host for a region', ARN.replace('eu-central-1', 'evil.example.com')],
    ['a path for a region', ARN.replace('eu-central-1', 'eu-central-1/x')],
    ['no region', ARN.replace('eu-central-1', '')],
    ['no account', ARN.replace('111122223333', '')],
    ['no name', 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:'],
    ['another colon', `${ARN}:x`],
    ['capitals', ARN.toUpperCase()],
  ])('refuses an ARN of %s', (_what, path) => {
    expect(problems('serviceRole', { path }, { cloudA_region: undefined })).toEqual(['secret_path']);
    expect(problems('accessKey', { path })).toEqual(['secret_path']);
  });

  it('refuses two regions and names both fields', () => {
    const path = ARN.replace('eu-central-1', 'us-east-1');
    expect(problems('assumedRole', { path })).toEqual(['secret_path']);
    const rules = { egress: new EgressPolicy([]), azureVaultHosts: [] };
    const [problem] = awsScheme.problems(VALID['accessKey'] ?? {}, { path, version: undefined }, rules);
    expect(problem?.message).toContain('auth_config.cloudA_region');
  });

  it('requires a region for serviceRole in one of two places', () => {
    expect(problems('serviceRole', {}, { cloudA_region: undefined })).toEqual(['auth_config.cloudA_region']);
    expect(problems('serviceRole', { path: ARN }, { cloudA_region: undefined })).toEqual([]);
  });

  it('accepts a version by its id or by a label', () => {
    for (const version of ['AWSPREVIOUS', 'blue/green', 'v'.repeat(64), undefined]) {
      expect(problems('accessKey', { version })).toEqual([]);
    }
    for (const version of ['', 'v'.repeat(65), 'a\tb']) {
      expect(problems('accessKey', { version })).toEqual(['secret_version']);
    }
  });
});

describe('awsScheme.identityTarget', () => {
  it('returns the path as identity target for serviceRole, and none for other variants', () => {
    const target = (variant: string) =>
      awsScheme.identityTarget(VALID[variant] ?? {}, { path: 'prod/key', version: undefined });
    expect(target('serviceRole')).toBe('prod/key');
    expect([target('accessKey'), target('assumedRole')]).toEqual([undefined, undefined]);
  });
});
