// The double is only useful if it refuses as AWS does. Requests are signed by hand with aws4, and by AWS's own SDK.
import { request as httpRequest } from 'node:http';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { fromTemporaryCredentials } from '@aws-sdk/credential-providers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import aws4, { type Credentials, type Request } from 'aws4';
import { SIGV4_SUITE } from '../../src/upstream/aws/__fixtures__/sigv4-suite.js';
import { expectedSignature } from '../../src/upstream/aws/__fixtures__/sigv4-verifier.js';
import { signAwsRequest } from '../../src/upstream/aws/aws-signature.js';
import { checkSignature } from './fake-aws-secrets-signature.js';
import {
  AWS_REGION,
  awsRefusal,
  FakeAwsSecrets,
  OTHER_AWS_ACCOUNT,
  type AwsIamKey,
  type AwsService,
} from './fake-aws-secrets.js';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

let aws: FakeAwsSecrets;
let user: AwsIamKey;

beforeEach(async () => {
  aws = await new FakeAwsSecrets().start();
  user = aws.addUser('reader');
});
afterEach(() => aws.close());

/** Signs by hand and sends; `tamper` changes the request after it was signed. */
async function ask(
  service: AwsService,
  body: string,
  changes: Partial<Request> = {},
  credentials: Credentials = user,
  tamper: (headers: Record<string, string>) => string | void = () => undefined,
): Promise<Answer> {
  const url = new URL(aws.url);
  const target = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': 'secretsmanager.GetSecretValue' };
  const signed = aws4.sign(
    {
      method: 'POST',
      path: '/',
      service,
      region: AWS_REGION,
      body,
      ...changes,
      headers: { host: url.host, ...(service === 'sts' ? {} : target), ...changes.headers },
    },
    credentials,
  );
  const headers = Object.fromEntries(
    Object.entries(signed.headers ?? {}).map(([name, value]) => [name, String(value)]),
  );
  const sent = tamper(headers) ?? body;
  return send(url, headers, sent);
}

function send(url: URL, headers: Record<string, string>, body: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = httpRequest(url, { method: 'POST', headers }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    call.on('error', reject).end(body);
  });
}

const getSecret = (input: object, ...rest: [Partial<Request>?, Credentials?]): Promise<Answer> =>
  ask('secretsmanager', JSON.stringify(input), ...rest);

const stampOf = (milliseconds: number): string =>
  new Date(Date.now() + milliseconds).toISOString().replace(/[:-]|\.\d{3}/g, '');

describe('the check of signatures', () => {
  const SUITE_KEY = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
  const rules = {
    service: 'service',
    region: 'us-east-1',
    regions: [],
    now: new Date('2015-08-30T12:36:00Z'),
    keys: new Map([[SUITE_KEY.accessKeyId, SUITE_KEY]]),
  };

  it.each(SIGV4_SUITE)('accepts only the published signature of %s', (_name, method, path, signature) => {
    const scope = 'AKIDEXAMPLE/20150830/us-east-1/service/aws4_request';
    const call = (changed: string) => ({
      method,
      path,
      headers: {
        host: 'example.amazonaws.com',
        'x-amz-date': '20150830T123600Z',
        authorization: `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host;x-amz-date, Signature=${changed}`,
      },
      body: '',
      closedEarly: false,
    });
    expect(checkSignature(call(signature), rules)).toEqual({ key: SUITE_KEY, region: 'us-east-1' });
    const other = signature.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
    expect(checkSignature(call(other), rules)).toMatchObject({ refusal: 'mismatch' });
  });

  it("verifies the SDK's signatures as the other verifier does", async () => {
    const url = new URL('https://secretsmanager.us-east-1.amazonaws.com/');
    const request = { method: 'POST', url, headers: { 'x-amz-target': 'a' }, body: Buffer.from('{"a":"ü"}') } as const;
    const signed = await signAwsRequest(request, SUITE_KEY, { ...rules, service: 'secretsmanager' }, rules.now);
    const call = {
      method: 'POST',
      path: '/',
      headers: { ...signed.headers, host: url.host },
      body: '{"a":"ü"}',
      closedEarly: false,
    };
    const scope = { ...rules, service: 'secretsmanager' };
    expect(checkSignature(call, scope)).toMatchObject({ region: 'us-east-1' });
    expect(signed.headers['authorization']).toContain(expectedSignature(signed, SUITE_KEY.secretAccessKey));
    expect(checkSignature({ ...call, body: '{"a":"u"}' }, scope)).toMatchObject({ refusal: 'mismatch' });
  });
});

describe('the fake AWS Secrets Manager', () => {
  beforeEach(() => {
    aws.addSecret({ name: 'prod/key', value: 'the-value' });
  });

  it("returns a secret in AWS's format", async () => {
    const answer = await getSecret({ SecretId: 'prod/key' });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toEqual({
      ARN: expect.stringMatching(/^arn:aws:secretsmanager:eu-central-1:111122223333:secret:prod\/key-[0-9a-f]{6}$/),
      CreatedDate: expect.any(Number),
      Name: 'prod/key',
      SecretString: 'the-value',
      VersionId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      VersionStages: ['AWSCURRENT'],
    });
    expect(aws.callsOf('secretsmanager')).toMatchObject([{ accessKeyId: user.accessKeyId, region: AWS_REGION }]);
  });

  const body = JSON.stringify({ SecretId: 'prod/key' });
  it.each<[string, string, () => Promise<Answer>]>([
    [
      'no signature',
      'MissingAuthenticationTokenException',
      () => ask('secretsmanager', body, {}, user, (headers) => void delete headers['Authorization']),
    ],
    [
      'half a signature',
      'IncompleteSignatureException',
      () => ask('secretsmanager', body, {}, user, (headers) => void (headers['Authorization'] = 'AWS4-HMAC-SHA256 x')),
    ],
    [
      'an unknown key',
      'UnrecognizedClientException',
      () => getSecret({ SecretId: 'prod/key' }, {}, { ...user, accessKeyId: 'AKIAIOSFODNN7EXAMPLE' }),
    ],
    [
      'a session token that it did not give',
      'UnrecognizedClientException',
      () => getSecret({ SecretId: 'prod/key' }, {}, { ...user, sessionToken: 'made-up' }),
    ],
    [
      'the wrong key',
      'InvalidSignatureException',
      () => getSecret({ SecretId: 'prod/key' }, {}, { ...user, secretAccessKey: 'wrong' }),
    ],
    ['another service', 'InvalidSignatureException', () => getSecret({ SecretId: 'prod/key' }, { service: 'sts' })],
    [
      'a region that there is not',
      'InvalidSignatureException',
      () => getSecret({ SecretId: 'prod/key' }, { region: 'xx-east-1' }),
    ],
    [
      'another region than the host has',
      'InvalidSignatureException',
      () => getSecret({ SecretId: 'prod/key' }, { headers: { host: 'secretsmanager.us-east-1.amazonaws.com' } }),
    ],
    [
      'a time before five minutes ago',
      'InvalidSignatureException',
      () => getSecret({ SecretId: 'prod/key' }, { headers: { 'X-Amz-Date': stampOf(-6 * 60_000) } }),
    ],
    [
      'a time after five minutes',
      'InvalidSignatureException',
      () => getSecret({ SecretId: 'prod/key' }, { headers: { 'X-Amz-Date': stampOf(6 * 60_000) } }),
    ],
    [
      'another body than was signed',
      'InvalidSignatureException',
      () => ask('secretsmanager', body, {}, user, () => JSON.stringify({ SecretId: 'prod/kez' })),
    ],
    [
      'another body than its header says',
      'InvalidSignatureException',
      () => getSecret({ SecretId: 'prod/key' }, { headers: { 'X-Amz-Content-Sha256': '00' } }),
    ],
    [
      'a header of AWS that was not signed',
      'InvalidSignatureException',
      () => ask('secretsmanager', body, {}, user, (headers) => void (headers['x-amz-more'] = '1')),
    ],
    [
      'another header than was signed',
      'InvalidSignatureException',
      () => ask('secretsmanager', body, {}, user, (headers) => void (headers['content-type'] = 'application/json')),
    ],
  ])('refuses a request with %s', async (_what, code, attempt) => {
    const answer = await attempt();
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toMatchObject({ __type: code });
    expect(answer.text).not.toContain('the-value');
    expect([aws.calls.length, aws.requests]).toEqual([0, 1]);
  });

  it.each([
    ['a secret that is not there', { SecretId: 'prod/none' }, 'ResourceNotFoundException'],
    ['a label that no version has', { SecretId: 'prod/key', VersionStage: 'AWSPREVIOUS' }, 'ResourceNotFoundException'],
    ['an unknown version', { SecretId: 'prod/key', VersionId: 'v'.repeat(32) }, 'ResourceNotFoundException'],
    ['too short an id of a version', { SecretId: 'prod/key', VersionId: 'v' }, 'ValidationException'],
    ['no name', {}, 'ValidationException'],
  ])('refuses to return a secret for %s', async (_what, input, code) => {
    expect(JSON.parse((await getSecret(input)).text)).toMatchObject({ __type: code });
  });

  it('moves the labels of versions when a secret is rotated', async () => {
    const secret = aws.addSecret({ name: 'prod/rotated', value: 'first' });
    const valueOf = async (input: object) =>
      JSON.parse((await getSecret({ SecretId: 'prod/rotated', ...input })).text).SecretString;
    const id = secret.rotate('second');
    secret.add('third', 'AWSPENDING');
    expect(await valueOf({})).toBe('second');
    expect(await valueOf({ VersionId: id, VersionStage: 'AWSCURRENT' })).toBe('second');
    expect(await valueOf({ VersionStage: 'AWSPREVIOUS' })).toBe('first');
    expect(await valueOf({ VersionStage: 'AWSPENDING' })).toBe('third');
    const wrong = await getSecret({ SecretId: 'prod/rotated', VersionId: id, VersionStage: 'AWSPREVIOUS' });
    expect(JSON.parse(wrong.text)).toMatchObject({ __type: 'InvalidRequestException' });
  });

  it('lets users read only what their policies allow, and other accounts only by ARN', async () => {
    const own = aws.addUser('own', ['arn:aws:secretsmanager:*:secret:prod/*']);
    const none = aws.addUser('none', ['arn:aws:secretsmanager:*:secret:dev/*']);
    const stranger = aws.addUser('stranger', ['*'], OTHER_AWS_ACCOUNT);
    const shared = aws.addSecret({ name: 'prod/shared', value: 'shared', sharedWith: [OTHER_AWS_ACCOUNT] });
    const kept = aws.addSecret({ name: 'prod/kept', value: 'kept' });
    const outcomeOf = async (key: AwsIamKey, id: string) => {
      const { SecretString: value, __type: code } = JSON.parse((await getSecret({ SecretId: id }, {}, key)).text);
      return value ?? code;
    };
    expect(await outcomeOf(own, 'prod/shared')).toBe('shared');
    expect(await outcomeOf(none, 'prod/shared')).toBe('AccessDeniedException');
    expect(await outcomeOf(stranger, shared.arn)).toBe('shared');
    expect(await outcomeOf(stranger, kept.arn)).toBe('AccessDeniedException');
    expect(await outcomeOf(stranger, 'prod/shared')).toBe('ResourceNotFoundException');
  });

  it('refuses deleted secrets and secrets whose encryption key fails', async () => {
    const secret = aws.addSecret({ name: 'prod/bad', value: 'x' });
    const refusal = async () => JSON.parse((await getSecret({ SecretId: 'prod/bad' })).text).__type;
    secret.key = 'denied';
    expect(await refusal()).toBe('AccessDeniedException');
    secret.key = 'disabled';
    expect(await refusal()).toBe('DecryptionFailure');
    secret.isDeleted = true;
    expect(await refusal()).toBe('InvalidRequestException');
  });

  it('returns a configured answer the given number of times', async () => {
    aws.replyWith('secretsmanager', awsRefusal('ThrottlingException', 'Rate exceeded'), 1);
    expect((await getSecret({ SecretId: 'prod/key' })).text).toContain('ThrottlingException');
    expect((await getSecret({ SecretId: 'prod/key' })).status).toBe(200);
  });

  describe('the fake STS', () => {
    const form = (fields: Record<string, string>): string =>
      new URLSearchParams({
        Action: 'AssumeRole',
        Version: '2011-06-15',
        RoleSessionName: 'test',
        ...fields,
      }).toString();

    it('creates a session that can read until it expires', async () => {
      const role = aws.addRole('reader', { trusts: user.principal.arn, externalId: 'agreed' });
      const body = form({ RoleArn: role.arn, ExternalId: 'agreed' });
      const answer = await ask('sts', body, { headers: { accept: 'application/json' } });
      const found = JSON.parse(answer.text).AssumeRoleResponse.AssumeRoleResult.Credentials;
      const session = {
        accessKeyId: found.AccessKeyId,
        secretAccessKey: found.SecretAccessKey,
        sessionToken: found.SessionToken,
      };
      expect((await getSecret({ SecretId: 'prod/key' }, {}, session)).status).toBe(200);
      expect((await getSecret({ SecretId: 'prod/key' }, {}, { ...session, sessionToken: undefined })).text).toContain(
        'UnrecognizedClientException',
      );
      aws.endSessions(role);
      expect((await getSecret({ SecretId: 'prod/key' }, {}, session)).text).toContain('AccessDeniedException');
      aws.now = () => new Date(Date.now() + 3_601_000);
      const late = { headers: { 'X-Amz-Date': stampOf(3_601_000) } };
      expect((await getSecret({ SecretId: 'prod/key' }, late, session)).text).toContain('ExpiredTokenException');
    });

    it.each([
      ['the wrong external id', { ExternalId: 'guessed' }, 403, 'AccessDenied'],
      ['no external id', {}, 403, 'AccessDenied'],
      ['another role', { RoleArn: 'arn:aws:iam::111122223333:role/other', ExternalId: 'agreed' }, 403, 'AccessDenied'],
      ['an external id that cannot be one', { ExternalId: 'a b' }, 400, 'ValidationError'],
      ['another action', { Action: 'GetFederationToken' }, 400, 'InvalidAction'],
    ])('refuses %s in XML', async (_what, fields, status, code) => {
      const role = aws.addRole('reader', { trusts: user.principal.arn, externalId: 'agreed' });
      const answer = await ask('sts', form({ RoleArn: role.arn, ...fields }));
      expect(answer.status).toBe(status);
      expect(answer.text).toContain(`<Code>${code}</Code>`);
    });

    it('refuses callers that are unknown or that the role does not trust', async () => {
      const role = aws.addRole('reader', { trusts: user.principal.arn });
      const body = form({ RoleArn: role.arn });
      expect((await ask('sts', body, {}, aws.addUser('other'))).text).toContain('<Code>AccessDenied</Code>');
      const unknown = await ask('sts', body, {}, { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'x' });
      expect(unknown.text).toContain('<Code>InvalidClientTokenId</Code>');
      const wrong = await ask('sts', body, {}, { ...user, secretAccessKey: 'x' });
      expect(wrong.text).toContain('<Code>SignatureDoesNotMatch</Code>');
      expect(wrong.status).toBe(403);
    });
  });

  it('works with the official AWS client', async () => {
    const role = aws.addRole('reader', { trusts: user.principal.arn, externalId: 'agreed' });
    const clientConfig = { region: AWS_REGION, endpoint: aws.url };
    const read = (externalId: string) =>
      new SecretsManagerClient({
        ...clientConfig,
        credentials: fromTemporaryCredentials({
          masterCredentials: user,
          params: { RoleArn: role.arn, ExternalId: externalId, RoleSessionName: 'test' },
          clientConfig,
        }),
      }).send(new GetSecretValueCommand({ SecretId: 'prod/key' }));
    expect(await read('agreed')).toMatchObject({ SecretString: 'the-value', CreatedDate: expect.any(Date) });
    await expect(read('guessed')).rejects.toMatchObject({ name: 'AccessDenied' });
  });
});
