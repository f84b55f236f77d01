import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  AWS_REGION,
  awsRefusal,
  FakeAwsSecrets,
  jsonAnswer,
  OTHER_AWS_ACCOUNT,
  type AwsIamKey,
  type AwsRole,
} from '../../../test/support/fake-aws-secrets.js';
import { drip, half, hangUp, inTurn, type Reply, silence, text } from '../../../test/support/fake-provider.js';
import { loadConfig } from '../../config/environment.js';
import { closedPort } from '../../upstream/__fixtures__/loopback.js';
import { EgressPolicy } from '../../upstream/egress/egress-policy.js';
import { type AwsIdentity, AwsOwnIdentity } from '../../upstream/aws/aws-own-identity.js';
import { AwsSecretsManager } from './aws-secrets-manager.js';
import type { UpstreamRequest } from '../../upstream/upstream.types.js';
import { SecretError, type SecretErrorCode, type SecretRequest } from './secret-manager.types.js';
import { SecretTransport } from './secret-transport.js';

const ORGANISATION = '3f0c2a52-7a8e-4f57-9a3e-0d7a9f1b2c3d';
const OTHER_ORGANISATION = '9b2d7c11-3e1f-4a53-8c0e-6f4f0a2b1d5e';
const EXTERNAL_ID = 'tollgate-5b1f';

let aws: FakeAwsSecrets;
let user: AwsIamKey;
let gateway: AwsIamKey;

beforeEach(async () => {
  aws = await new FakeAwsSecrets().start();
  user = aws.addUser('tenant');
  gateway = aws.addUser('gateway');
  aws.addSecret({ name: 'prod/key', value: 'the-value' });
});
afterEach(() => aws.close());

/** A manager that asks the fake AWS, as a gateway that has its identity from its settings. */
function managerWith(
  settings: Readonly<Record<string, string | undefined>> = {},
  ownIdentity?: AwsOwnIdentity,
): AwsSecretsManager {
  const config = loadConfig({
    EGRESS_ALLOW: '127.0.0.1',
    SECRET_MANAGER_TIMEOUT_MS: '10000',
    AWS_ENDPOINT_URL_SECRETS_MANAGER: aws.url,
    AWS_ENDPOINT_URL_STS: aws.url,
    AWS_ACCESS_KEY_ID: gateway.accessKeyId,
    AWS_SECRET_ACCESS_KEY: gateway.secretAccessKey,
    ...settings,
  });
  const transport = new SecretTransport(new EgressPolicy(config.EGRESS_ALLOW), config);
  return new AwsSecretsManager(transport, config, ownIdentity ?? new AwsOwnIdentity(config));
}

const withKey = (changes: Partial<SecretRequest> = {}, fields: Record<string, string> = {}): SecretRequest => ({
  organisationId: ORGANISATION,
  authConfig: {
    cloudA_auth_type: 'accessKey',
    cloudA_access_key_id: user.accessKeyId,
    cloudA_secret_access_key: user.secretAccessKey,
    cloudA_region: AWS_REGION,
    ...fields,
  },
  path: 'prod/key',
  version: undefined,
  ...changes,
});

const withRole = (role: Pick<AwsRole, 'arn'>, changes: Partial<SecretRequest> = {}): SecretRequest => ({
  ...withKey(),
  authConfig: {
    cloudA_auth_type: 'assumedRole',
    cloudA_role_arn: role.arn,
    cloudA_external_id: EXTERNAL_ID,
    cloudA_region: AWS_REGION,
  },
  ...changes,
});

const asGateway = (changes: Partial<SecretRequest> = {}): SecretRequest => ({
  ...withKey(),
  authConfig: { cloudA_auth_type: 'serviceRole', cloudA_region: AWS_REGION },
  ...changes,
});

const addRole = (changes: Partial<AwsRole> = {}): AwsRole =>
  aws.addRole('reader', { trusts: gateway.principal.arn, externalId: EXTERNAL_ID, ...changes });

/** The error that a fetch must end with. */
async function errorOf(work: Promise<unknown>): Promise<SecretError> {
  const outcome: unknown = await work.then(
    () => 'a secret',
    (error: unknown) => error,
  );
  if (outcome instanceof SecretError) return outcome;
  throw new Error('expected a SecretError', { cause: outcome });
}

const codeOf = async (work: Promise<unknown>): Promise<SecretErrorCode> => (await errorOf(work)).code;

describe('AwsSecretsManager', () => {
  describe('accessKey', () => {
    it('reads a secret by its name, and one that is JSON as text', async () => {
      const manager = managerWith();
      expect(await manager.fetch(withKey())).toEqual({ kind: 'text', text: 'the-value' });
      aws.addSecret({ name: 'json', value: '{"a":"ü"}' });
      expect(await manager.fetch(withKey({ path: 'json' }))).toEqual({ kind: 'text', text: '{"a":"ü"}' });
      expect(aws.calls.map(({ service }) => service)).toEqual(['secretsmanager', 'secretsmanager']);
    });

    it('signs with a session token where there is one', async () => {
      aws.removeKeys((key) => key === user);
      const request = withKey({}, { cloudA_session_token: 'no-such-session' });
      expect(await codeOf(managerWith().fetch(request))).toBe('authentication_failed');
      expect(aws.calls).toEqual([]);
    });

    it('reads the secret of another account by its ARN, if that lets it', async () => {
      const shared = { name: 'shared', value: 'theirs', account: OTHER_AWS_ACCOUNT, sharedWith: ['111122223333'] };
      const secret = aws.addSecret(shared);
      expect(await managerWith().fetch(withKey({ path: secret.arn }))).toMatchObject({ text: 'theirs' });
      expect(await codeOf(managerWith().fetch(withKey({ path: 'shared' })))).toBe('not_found');
      const kept = aws.addSecret({ ...shared, name: 'kept', sharedWith: [] });
      expect(await codeOf(managerWith().fetch(withKey({ path: kept.arn })))).toBe('access_denied');
    });

    it.each(['cloudA_access_key_id', 'cloudA_secret_access_key', 'cloudA_region', 'cloudA_auth_type'])(
      'sends no request without %s',
      async (field) => {
        const { [field]: _left, ...authConfig } = withKey().authConfig;
        expect(await codeOf(managerWith().fetch(withKey({ authConfig })))).toBe('invalid_request');
        expect(aws.requests).toBe(0);
      },
    );

    it('uses a changed secret key, although it has a client for the old one', async () => {
      const manager = managerWith();
      await manager.fetch(withKey());
      const wrong = withKey({}, { cloudA_secret_access_key: 'another' });
      expect(await codeOf(manager.fetch(wrong))).toBe('authentication_failed');
      expect(await manager.fetch(withKey())).toMatchObject({ text: 'the-value' });
    });
  });

  describe('assumedRole', () => {
    it('reads with an assumed role, the external id and the name of the organisation', async () => {
      expect(await managerWith().fetch(withRole(addRole()))).toEqual({ kind: 'text', text: 'the-value' });
      const [assumed, read] = aws.calls;
      expect(assumed).toMatchObject({ service: 'sts', accessKeyId: gateway.accessKeyId, region: AWS_REGION });
      expect(assumed?.input).toMatchObject({ ExternalId: EXTERNAL_ID, RoleSessionName: `tollgate-${ORGANISATION}` });
      expect(read?.accessKeyId).toMatch(/^ASIA/);
    });

    it('fails with another external id, and sends no request without one', async () => {
      const role = addRole({ externalId: 'tollgate-other' });
      expect(await codeOf(managerWith().fetch(withRole(role)))).toBe('access_denied');
      expect(aws.callsOf('secretsmanager')).toEqual([]);
      const { cloudA_external_id: _left, ...authConfig } = withRole(role).authConfig;
      const before = aws.requests;
      expect(await codeOf(managerWith().fetch(withRole(role, { authConfig })))).toBe('invalid_request');
      expect(aws.requests).toBe(before);
    });

    it('assumes the role once for many fetches, also at the same time', async () => {
      const manager = managerWith();
      const role = addRole();
      await Promise.all(Array.from({ length: 10 }, () => manager.fetch(withRole(role))));
      await manager.fetch(withRole(role));
      expect([aws.callsOf('sts').length, aws.callsOf('secretsmanager').length]).toEqual([1, 11]);
    });

    it('shares no role session between organisations', async () => {
      const manager = managerWith();
      const role = addRole();
      await manager.fetch(withRole(role));
      await manager.fetch(withRole(role, { organisationId: OTHER_ORGANISATION }));
      expect(aws.callsOf('sts').map(({ input }) => input['RoleSessionName'])).toEqual([
        `tollgate-${ORGANISATION}`,
        `tollgate-${OTHER_ORGANISATION}`,
      ]);
    });

    it('assumes the role again shortly before the session ends', async () => {
      const manager = managerWith();
      const role = addRole();
      const real = Date.now;
      let offsetMinutes = 0;
      const clock = jest.spyOn(Date, 'now').mockImplementation(() => real() + offsetMinutes * 60_000);
      aws.now = () => new Date(Date.now());
      try {
        const roles = [];
        for (offsetMinutes of [0, 54, 56, 57]) {
          await manager.fetch(withRole(role));
          roles.push(aws.callsOf('sts').length);
        }
        expect(roles).toEqual([1, 1, 2, 2]);
      } finally {
        clock.mockRestore();
      }
    });

    it('keeps the role session when only the secret is wrong', async () => {
      const manager = managerWith();
      const role = addRole();
      expect(await codeOf(manager.fetch(withRole(role, { path: 'none' })))).toBe('not_found');
      await manager.fetch(withRole(role));
      expect(aws.callsOf('sts').length).toBe(1);
    });

    it.each<[string, SecretErrorCode, Reply, number]>([
      ['ExpiredTokenException', 'authentication_failed', stsError('ExpiredTokenException', 403), 1],
      ['InvalidClientTokenId', 'authentication_failed', stsError('InvalidClientTokenId', 403), 1],
      ['SignatureDoesNotMatch', 'authentication_failed', stsError('SignatureDoesNotMatch', 403), 1],
      ['AccessDenied', 'access_denied', stsError('AccessDenied', 403), 1],
      ['RegionDisabledException', 'access_denied', stsError('RegionDisabledException', 403), 1],
      ['MalformedPolicyDocument', 'invalid_request', stsError('MalformedPolicyDocument', 400), 1],
      ['PackedPolicyTooLarge', 'invalid_request', stsError('PackedPolicyTooLarge', 400), 1],
      ['ValidationError', 'invalid_request', stsError('ValidationError', 400), 1],
      ['Throttling', 'throttled', stsError('Throttling', 400), 2],
      ['InternalFailure', 'manager_failed', stsError('InternalFailure', 500), 2],
      ['ServiceUnavailable', 'manager_failed', stsError('ServiceUnavailable', 503), 2],
      ['a session without a key', 'invalid_response', text('<AssumeRoleResponse/>', 'text/xml'), 1],
      ['HTML', 'invalid_response', text('<html><body>busy</body></html>', 'text/html'), 1],
      ['broken XML', 'invalid_response', text('<AssumeRoleResponse><Assume', 'text/xml'), 1],
      ['half an answer', 'invalid_response', half('<AssumeRoleResponse></AssumeRoleResponse>'), 2],
      ['nothing', 'timeout', silence, 2],
      ['an end of the connection', 'unreachable', hangUp, 2],
    ])('maps the answer %s of STS to %s', async (_what, code, reply, attempts) => {
      aws.replyWith('sts', reply);
      // On a busy machine, a connection alone may take a second.
      expect(await codeOf(managerWith({ SECRET_MANAGER_TIMEOUT_MS: '2500' }).fetch(withRole(addRole())))).toBe(code);
      expect([aws.callsOf('sts').length, aws.callsOf('secretsmanager').length]).toEqual([attempts, 0]);
    });
  });

  describe('serviceRole', () => {
    it("reads with the gateway's own identity", async () => {
      expect(await managerWith().fetch(asGateway())).toEqual({ kind: 'text', text: 'the-value' });
      expect(aws.calls).toMatchObject([{ accessKeyId: gateway.accessKeyId }]);
    });

    it('takes the region from an ARN', async () => {
      const secret = aws.addSecret({ name: 'prod/far', value: 'far', region: 'us-east-1' });
      const manager = managerWith();
      const request = asGateway({ authConfig: { cloudA_auth_type: 'serviceRole' }, path: secret.arn });
      expect(await manager.fetch(request)).toMatchObject({ text: 'far' });
      expect(aws.calls).toMatchObject([{ region: 'us-east-1' }]);
      const unnamed = asGateway({ authConfig: { cloudA_auth_type: 'serviceRole' } });
      expect(await codeOf(managerWith().fetch(unnamed))).toBe('invalid_request');
    });
  });

  describe("the gateway's own identity", () => {
    const WITHOUT_KEY = { AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined } as const;
    const chainOf = (find: () => Promise<AwsIdentity>): AwsOwnIdentity =>
      new AwsOwnIdentity({ SECRET_MANAGER_TIMEOUT_MS: 200 }, () => Promise.resolve(find));

    it('uses the identity of the default chain when the settings have no key', async () => {
      const manager = managerWith(
        WITHOUT_KEY,
        chainOf(() => Promise.resolve(gateway)),
      );
      expect(await manager.fetch(asGateway())).toMatchObject({ text: 'the-value' });
      expect(await manager.fetch(withRole(addRole()))).toMatchObject({ text: 'the-value' });
    });

    it('fails when the default chain finds no identity, or none in time', async () => {
      const error = Object.assign(new Error('Could not load'), { name: 'CredentialsProviderError' });
      for (const request of [asGateway(), withRole(addRole())]) {
        const none = managerWith(
          WITHOUT_KEY,
          chainOf(() => Promise.reject(error)),
        );
        expect(await codeOf(none.fetch(request))).toBe('authentication_failed');
        const late = managerWith(
          WITHOUT_KEY,
          chainOf(() => new Promise(() => undefined)),
        );
        expect(await codeOf(late.fetch(request))).toBe('timeout');
      }
      expect(aws.requests).toBe(0);
    });

    it('looks for its identity again when AWS refuses it, and not when AWS denies an action', async () => {
      let loads = 0;
      const found = [{ ...gateway, secretAccessKey: 'old' }, gateway];
      const identity = new AwsOwnIdentity({ SECRET_MANAGER_TIMEOUT_MS: 200 }, () => {
        const [first = gateway] = found.splice(0, 1);
        loads += 1;
        return Promise.resolve(() => Promise.resolve(first));
      });
      const manager = managerWith(WITHOUT_KEY, identity);
      expect(await codeOf(manager.fetch(asGateway()))).toBe('authentication_failed');
      expect(await manager.fetch(asGateway())).toMatchObject({ text: 'the-value' });
      expect(await codeOf(manager.fetch(withRole(addRole({ externalId: 'no' }))))).toBe('access_denied');
      await manager.fetch(asGateway());
      expect(loads).toBe(2);
    });
  });

  describe('versions', () => {
    it('reads the current version, and after a rotation the new one', async () => {
      const secret = aws.addSecret({ name: 'rotated', value: 'first' });
      const firstId = secret.find({}).id;
      const manager = managerWith();
      const valueOf = async (version?: string) => manager.fetch(withKey({ path: 'rotated', version }));
      expect(await valueOf()).toMatchObject({ text: 'first' });
      secret.rotate('second');
      secret.add('third', 'AWSPENDING');
      expect(await valueOf()).toMatchObject({ text: 'second' });
      expect(await valueOf('AWSCURRENT')).toMatchObject({ text: 'second' });
      expect(await valueOf('AWSPREVIOUS')).toMatchObject({ text: 'first' });
      expect(await valueOf('AWSPENDING')).toMatchObject({ text: 'third' });
      expect(await valueOf(firstId)).toMatchObject({ text: 'first' });
    });

    it('finds no version by an unknown id, or by a label that no version has', async () => {
      const manager = managerWith();
      expect(await codeOf(manager.fetch(withKey({ version: 'AWSPREVIOUS' })))).toBe('not_found');
      expect(await codeOf(manager.fetch(withKey({ version: 'v'.repeat(36) })))).toBe('not_found');
      expect(aws.calls.map(({ input }) => Object.keys(input))).toEqual([
        ['SecretId', 'VersionStage'],
        ['SecretId', 'VersionId'],
      ]);
    });
  });

  it('reads binary that is UTF-8, and no other', async () => {
    aws.addSecret({ name: 'text', value: Buffer.from('\ufeffschön') });
    aws.addSecret({ name: 'bytes', value: Buffer.from([0xff, 0x00, 0xfe]) });
    expect(await managerWith().fetch(withKey({ path: 'text' }))).toEqual({ kind: 'text', text: '\ufeffschön' });
    expect(await codeOf(managerWith().fetch(withKey({ path: 'bytes' })))).toBe('not_text');
  });

  describe('refusals', () => {
    it('reports denied, disabled, deleted and missing secrets', async () => {
      const manager = managerWith();
      const secret = aws.addSecret({ name: 'bad', value: 'x' });
      const code = () => codeOf(manager.fetch(withKey({ path: 'bad' })));
      secret.key = 'denied';
      expect(await code()).toBe('access_denied');
      secret.key = 'disabled';
      expect(await code()).toBe('decryption_failed');
      secret.isDeleted = true;
      expect(await code()).toBe('deleted');
      expect(await codeOf(manager.fetch(withKey({ path: 'none' })))).toBe('not_found');
    });

    it('reports unknown, wrong and denied access keys', async () => {
      const unknown = withKey({}, { cloudA_access_key_id: 'AKIAIOSFODNN7EXAMPLE' });
      const wrong = withKey({}, { cloudA_secret_access_key: 'wrong' });
      expect(await codeOf(managerWith().fetch(unknown))).toBe('authentication_failed');
      expect(await codeOf(managerWith().fetch(wrong))).toBe('authentication_failed');
      user = aws.addUser('poor', ['arn:aws:secretsmanager:*:secret:dev/*']);
      expect(await codeOf(managerWith().fetch(withKey()))).toBe('access_denied');
    });

    it.each<[string, SecretErrorCode, number]>([
      ['ResourceNotFoundException', 'not_found', 1],
      ['InvalidParameterException', 'invalid_request', 1],
      ['InvalidRequestException', 'invalid_request', 1],
      ['ValidationException', 'invalid_request', 1],
      ['SerializationException', 'invalid_request', 1],
      ['DecryptionFailure', 'decryption_failed', 1],
      ['AccessDeniedException', 'access_denied', 1],
      ['NotAuthorized', 'access_denied', 1],
      ['OptInRequired', 'access_denied', 1],
      ['UnrecognizedClientException', 'authentication_failed', 1],
      ['InvalidSignatureException', 'authentication_failed', 1],
      ['IncompleteSignatureException', 'authentication_failed', 1],
      ['MissingAuthenticationTokenException', 'authentication_failed', 1],
      ['ExpiredTokenException', 'authentication_failed', 1],
      ['InvalidClientTokenId', 'authentication_failed', 1],
      ['RequestExpired', 'authentication_failed', 1],
      ['ThrottlingException', 'throttled', 2],
      ['Throttling', 'throttled', 2],
      ['RequestLimitExceeded', 'throttled', 2],
      ['LimitExceededException', 'throttled', 2],
      ['TooManyRequestsException', 'throttled', 2],
      ['RequestTimeoutException', 'timeout', 2],
      ['SomethingNewException', 'manager_failed', 1],
      ['com.amazonaws.secretsmanager#DecryptionFailure', 'decryption_failed', 1],
    ])('maps the refusal %s of AWS to %s', async (name, code, attempts) => {
      aws.replyWith('secretsmanager', awsRefusal(name, 'words'));
      const error = await errorOf(managerWith().fetch(withKey()));
      expect(error.code).toBe(code);
      expect(error.detail).toMatch(/^\w+ \(request [0-9a-f-]{36}\): words$/);
      expect(aws.calls.length).toBe(attempts);
    });

    it('reads a refusal by its name with every status', async () => {
      for (const status of [400, 403, 404, 500]) {
        aws.replyWith('secretsmanager', awsRefusal('ResourceNotFoundException', 'words', status));
        expect(await codeOf(managerWith().fetch(withKey()))).toBe('not_found');
      }
    });

    it('retries once when the service fails', async () => {
      const broken = awsRefusal('InternalServiceError', 'An error occurred on the server side.', 500);
      aws.replyWith('secretsmanager', broken, 1);
      expect(await managerWith().fetch(withKey())).toMatchObject({ text: 'the-value' });
      aws.replyWith('secretsmanager', broken);
      expect(await codeOf(managerWith().fetch(withKey()))).toBe('manager_failed');
      expect(aws.calls.length).toBe(4);
    });
  });

  it.each<[number, string, SecretErrorCode]>([
    [429, 'TooManyRequestsException', 'throttled'],
    [503, 'ServiceUnavailableException', 'manager_failed'],
  ])('does not wait as long as AWS asks with %i', async (status, name, code) => {
    const reply: Reply = (response, call) => {
      response.setHeader('retry-after', '5').setHeader('x-amz-retry-after', '5000');
      return awsRefusal(name, 'words', status)(response, call);
    };
    aws.replyWith('secretsmanager', reply);
    const started = performance.now();
    expect(await codeOf(managerWith().fetch(withKey()))).toBe(code);
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(aws.calls.length).toBe(2);
  });

  describe('answers that are none', () => {
    it.each<[string, SecretErrorCode, Reply]>([
      ['HTML', 'invalid_response', text('<html>s3cr3t-page</html>', 'text/html')],
      ['HTML with an error', 'invalid_response', text('<html>s3cr3t-page</html>', 'text/html', 503)],
      ['half of the JSON', 'invalid_response', text('{"SecretString":"s3cr3t-val', 'application/json')],
      ['half of the body', 'invalid_response', half('{"SecretString":"s3cr3t-value"}')],
      ['no value', 'invalid_response', jsonAnswer({ Name: 's3cr3t-name' })],
      ['a value that is not text', 'invalid_response', jsonAnswer({ SecretString: { text: 's3cr3t' } })],
      ['binary that is not base64', 'invalid_response', jsonAnswer({ SecretBinary: 's3cr3t!' })],
      ['an array', 'invalid_response', jsonAnswer(['s3cr3t'])],
      ['an error without a name', 'invalid_response', jsonAnswer({ text: 's3cr3t' }, 400)],
      ['an empty body', 'invalid_response', text('', 'application/json')],
      ['an empty error', 'invalid_response', text('', 'application/json', 500)],
      ['a redirect', 'invalid_response', text('', 'text/plain', 302, { location: 'https://example.com/s3cr3t' })],
      ['more than any secret', 'too_large', text('x'.repeat(3 * 1024 * 1024), 'application/json')],
      ['one byte at a time', 'timeout', drip(20)],
      ['nothing', 'timeout', silence],
      ['an end of the connection', 'unreachable', hangUp],
    ])('maps the invalid answer %s to %s', async (_what, code, reply) => {
      aws.replyWith('secretsmanager', reply);
      const settings = code === 'timeout' ? { SECRET_MANAGER_TIMEOUT_MS: '1000' } : {};
      const error = await errorOf(managerWith(settings).fetch(withKey()));
      expect(error.code).toBe(code);
      expect(`${error.detail} ${error.stack}`).not.toContain('s3cr3t');
      expect(aws.calls.length).toBeLessThanOrEqual(2);
    });

    it('returns the second answer when the first is invalid', async () => {
      for (const reply of [hangUp, silence, half('{"SecretString":"s3cr3t"}')]) {
        const answer = jsonAnswer({ SecretString: 'later' });
        aws.replyWith('secretsmanager', inTurn(reply, answer));
        const manager = managerWith({ SECRET_MANAGER_TIMEOUT_MS: '2500' });
        expect(await manager.fetch(withKey())).toMatchObject({ text: 'later' });
      }
    });

    it('gives up in time when AWS does not answer', async () => {
      aws.delayMs = 5_000;
      const started = performance.now();
      expect(await codeOf(managerWith({ SECRET_MANAGER_TIMEOUT_MS: '200' }).fetch(withKey()))).toBe('timeout');
      expect(performance.now() - started).toBeLessThan(5_000);
    });

    it('fails as unreachable when no server listens', async () => {
      const nowhere = `http://127.0.0.1:${await closedPort()}`;
      const settings = { AWS_ENDPOINT_URL_SECRETS_MANAGER: nowhere, AWS_ENDPOINT_URL_STS: nowhere };
      expect(await codeOf(managerWith(settings).fetch(withKey()))).toBe('unreachable');
      expect(await codeOf(managerWith(settings).fetch(withRole(addRole())))).toBe('unreachable');
    });
  });

  it('corrects its clock by that of AWS, for both services', async () => {
    aws.now = () => new Date(Date.now() + 3_600_000);
    const manager = managerWith();
    expect(await manager.fetch(withKey())).toMatchObject({ text: 'the-value' });
    expect(aws.requests).toBe(2);
    // It has learnt.
    await manager.fetch(withKey());
    expect(aws.requests).toBe(3);
    expect(await manager.fetch(withRole(addRole()))).toMatchObject({ text: 'the-value' });
    // Without AWS's time there is nothing to learn from.
    aws.replyWith('secretsmanager', awsRefusal('InvalidSignatureException', 'Signature not yet current'));
    expect(await codeOf(manager.fetch(withKey()))).toBe('authentication_failed');
  });

  describe('egress', () => {
    it.each(['', '127.0.0.2', '127.0.0.1:1'])(
      'sends no request to a service that EGRESS_ALLOW does not name: %p',
      async (allow) => {
        const manager = managerWith({ EGRESS_ALLOW: allow });
        for (const request of [withKey(), withRole(addRole()), asGateway()]) {
          expect(await codeOf(manager.fetch(request))).toBe('refused_by_egress');
        }
        expect(aws.requests).toBe(0);
      },
    );

    it('checks the address of STS separately', async () => {
      const manager = managerWith({ AWS_ENDPOINT_URL_STS: 'http://169.254.169.254' });
      expect(await codeOf(manager.fetch(withRole(addRole())))).toBe('refused_by_egress');
      expect(await manager.fetch(withKey())).toMatchObject({ text: 'the-value' });
    });

    it.each<[string, Partial<SecretRequest>, Record<string, string>]>([
      ['a host for a region', {}, { cloudA_region: 'evil.example.com' }],
      [
        'a host for the region of an ARN',
        { path: 'arn:aws:secretsmanager:evil.example.com:111122223333:secret:a' },
        {},
      ],
      ['the ARN of something else', { path: 'arn:aws:s3:::bucket' }, {}],
      ['two regions', { path: 'arn:aws:secretsmanager:us-east-1:111122223333:secret:a' }, {}],
    ])('sends no request for %s', async (_what, changes, fields) => {
      expect(await codeOf(managerWith().fetch(withKey(changes, fields)))).toBe('invalid_request');
      expect(aws.requests).toBe(0);
    });

    it("sends to AWS's own hosts unless others are set", async () => {
      const asked: string[] = [];
      const transport = {
        sender: () => (request: UpstreamRequest) => {
          asked.push(request.url.href);
          return Promise.reject(new SecretError('refused_by_egress', 'noted'));
        },
      };
      const config = { SECRET_MANAGER_TIMEOUT_MS: 200, AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' };
      const manager = new AwsSecretsManager(transport, config, new AwsOwnIdentity(config));
      await errorOf(manager.fetch(withKey()));
      await errorOf(manager.fetch(withRole(addRole())));
      await errorOf(manager.fetch(withKey({}, { cloudA_region: 'cn-north-1' })));
      expect(asked).toEqual([
        'https://secretsmanager.eu-central-1.amazonaws.com/',
        'https://sts.eu-central-1.amazonaws.com/',
        'https://secretsmanager.cn-north-1.amazonaws.com.cn/',
      ]);
    });
  });

  it.each<[string, () => SecretRequest, () => AwsIamKey]>([
    ['of the tenant', () => withKey(), () => user],
    ['of the gateway, asked as itself,', () => asGateway(), () => gateway],
    ['of the gateway, assuming a role,', () => withRole(addRole()), () => gateway],
  ])('keeps keys and tokens %s out of the log', async (_whose, request, key) => {
    const { accessKeyId, secretAccessKey } = key();
    const known = `Key ${accessKeyId} with ${secretAccessKey}`;
    const words = `${known}, ASIAIOSFODNN7EXAMPLE, ${'tOk3n/'.repeat(20)} ${'a '.repeat(400)}`;
    aws.replyWith('secretsmanager', awsRefusal('UnrecognizedClientException', words));
    aws.replyWith('sts', stsError('InvalidClientTokenId', 403, words));
    const error = await errorOf(managerWith().fetch(request()));
    expect(error.detail).toContain('Key [removed] with [removed], [removed], [removed] a a');
    expect(error.detail.length).toBeLessThanOrEqual(300);
    expect(error.stack).not.toContain(secretAccessKey);
    expect(error.cause).toBeUndefined();
  });

  it('ends its role sessions when it is closed', async () => {
    const manager = managerWith();
    const role = addRole();
    await manager.fetch(withRole(role));
    await manager.close();
    await manager.fetch(withRole(role));
    expect(aws.callsOf('sts').length).toBe(2);
  });
});

/** A refusal of STS, in the XML that the SDK asks for. */
function stsError(code: string, status: number, words = 'words'): Reply {
  const error = `<Error><Type>Sender</Type><Code>${code}</Code><Message>${words}</Message></Error>`;
  return text(`<ErrorResponse>${error}<RequestId>1</RequestId></ErrorResponse>`, 'text/xml', status);
}
