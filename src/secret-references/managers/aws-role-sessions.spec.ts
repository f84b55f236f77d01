// What becomes of credentials that are kept once AWS takes them no longer; the rest is in aws-secrets-manager.spec.ts.
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  AWS_REGION,
  awsRefusal,
  FakeAwsSecrets,
  type AwsIamKey,
  type AwsRole,
} from '../../../test/support/fake-aws-secrets.js';
import { loadConfig } from '../../config/environment.js';
import { EgressPolicy } from '../../upstream/egress/egress-policy.js';
import { AwsOwnIdentity } from '../../upstream/aws/aws-own-identity.js';
import { AwsSecretsManager } from './aws-secrets-manager.js';
import { SecretError, type AuthConfig, type SecretDocument, type SecretErrorCode } from './secret-manager.types.js';
import { SecretTransport } from './secret-transport.js';

const EXTERNAL_ID = 'tollgate-5b1f';
const VALUE = { kind: 'text', text: 'the-value' };

let aws: FakeAwsSecrets;
let gateway: AwsIamKey;
/** What the gateway's own identity is found to be, and how often it was looked for. */
let found: AwsIamKey;
let searches: number;
let manager: AwsSecretsManager;

beforeEach(async () => {
  aws = await new FakeAwsSecrets().start();
  gateway = aws.addUser('gateway');
  aws.addSecret({ name: 'prod/key', value: 'the-value' });
  aws.addSecret({ name: 'dev/key', value: 'forbidden' });
  found = gateway;
  searches = 0;
  const config = loadConfig({
    EGRESS_ALLOW: '127.0.0.1',
    AWS_ENDPOINT_URL_SECRETS_MANAGER: aws.url,
    AWS_ENDPOINT_URL_STS: aws.url,
  });
  const identity = new AwsOwnIdentity(config, () => {
    const key = found;
    searches += 1;
    return Promise.resolve(() => Promise.resolve(key));
  });
  const transport = new SecretTransport(new EgressPolicy(config.EGRESS_ALLOW), config);
  manager = new AwsSecretsManager(transport, config, identity);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await manager.close();
  await aws.close();
});

function read(auth: AuthConfig, path = 'prod/key'): Promise<SecretDocument> {
  const authConfig = { cloudA_region: AWS_REGION, ...auth };
  return manager.fetch({ organisationId: 'o', authConfig, path, version: undefined });
}

async function codeOf(work: Promise<unknown>): Promise<SecretErrorCode> {
  const outcome: unknown = await work.catch((error: unknown) => error);
  if (outcome instanceof SecretError) return outcome.code;
  throw new Error('expected a SecretError', { cause: outcome });
}

const sessions = (): number => aws.callsOf('sts').length;

describe('a role session that is refused', () => {
  let role: AwsRole;

  beforeEach(() => {
    const mayRead = ['arn:aws:secretsmanager:*:secret:prod/*'];
    role = aws.addRole('reader', { trusts: gateway.principal.arn, externalId: EXTERNAL_ID, mayRead });
  });

  const asRole = (path?: string): Promise<SecretDocument> =>
    read({ cloudA_auth_type: 'assumedRole', cloudA_role_arn: role.arn, cloudA_external_id: EXTERNAL_ID }, path);

  it.each<[string, () => void]>([
    ['was ended by the owner of the role', () => aws.endSessions(role)],
    ['is no longer known to AWS', () => aws.removeKeys((key) => key.role !== undefined)],
  ])('starts one new session and reads again when a session %s', async (_how, end) => {
    await asRole();
    end();
    expect(await asRole()).toEqual(VALUE);
    expect(sessions()).toBe(2);
  });

  it('starts one new session for all when a session was ended while many use it', async () => {
    await asRole();
    aws.endSessions(role);
    const all = await Promise.all(Array.from({ length: 20 }, () => asRole()));
    expect(all).toEqual(Array(20).fill(VALUE));
    expect(sessions()).toBe(2);
  });

  it('starts no other session when a new one is refused', async () => {
    for (let round = 0; round < 3; round += 1) expect(await codeOf(asRole('dev/key'))).toBe('access_denied');
    expect(sessions()).toBe(1);
  });

  it('starts no session within a minute for a denied secret, and reads other secrets', async () => {
    const start = performance.now();
    const now = jest.spyOn(performance, 'now').mockImplementation(() => start);
    await asRole();
    for (let round = 0; round < 3; round += 1) expect(await codeOf(asRole('dev/key'))).toBe('access_denied');
    expect(await asRole()).toEqual(VALUE);
    expect(sessions()).toBe(2);
    // For a millisecond the cache takes the time to be what it was.
    await new Promise((resolve) => setTimeout(resolve, 5));
    now.mockImplementation(() => start + 60_001);
    expect(await codeOf(asRole('dev/key'))).toBe('access_denied');
    expect(sessions()).toBe(3);
  });

  it('starts no sessions in a loop when the role no longer trusts the gateway', async () => {
    await asRole();
    aws.endSessions(role);
    aws.addRole('reader', { ...role, trusts: 'none' });
    expect(await codeOf(asRole())).toBe('access_denied');
    expect(sessions()).toBe(2);
    expect(searches).toBe(1);
  });
});

describe("the gateway's own identity", () => {
  const asGateway = (): Promise<SecretDocument> => read({ cloudA_auth_type: 'serviceRole' });

  it('looks for its identity once more and reads again when AWS no longer knows it', async () => {
    await asGateway();
    found = aws.addUser('gateway');
    aws.removeKeys((key) => key === gateway);
    expect(await asGateway()).toEqual(VALUE);
    expect(searches).toBe(2);
  });

  it('does not look for its identity when AWS denies it a secret', async () => {
    await asGateway();
    aws.replyWith('secretsmanager', awsRefusal('AccessDeniedException', 'denied'));
    expect(await codeOf(asGateway())).toBe('access_denied');
    expect([searches, aws.callsOf('secretsmanager').length]).toEqual([1, 2]);
  });
});

it('does not retry a refused access key', async () => {
  const user = aws.addUser('tenant');
  const { accessKeyId: cloudA_access_key_id, secretAccessKey: cloudA_secret_access_key } = user;
  const withKey = { cloudA_auth_type: 'accessKey', cloudA_access_key_id, cloudA_secret_access_key };
  await read(withKey);
  aws.removeKeys((key) => key === user);
  const before = aws.requests;
  expect(await codeOf(read(withKey))).toBe('authentication_failed');
  expect(aws.requests).toBe(before + 1);
});
