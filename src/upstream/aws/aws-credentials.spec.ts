import { describe, expect, it } from '@jest/globals';
import { UpstreamFailure, type UpstreamAnswer, type UpstreamRequest } from '../upstream.types.js';
import { expectedSignature, readAuthorization } from './__fixtures__/sigv4-verifier.js';
import { AwsCredentialSource, type AwsCredentialServices, type AwsOptions } from './aws-credentials.js';
import { type AwsIdentity, AwsOwnIdentity } from './aws-own-identity.js';
import type { Credential } from '../providers/provider.types.js';

const START = new Date('2026-11-21T12:00:00Z');
const ORGANISATION = '3f0c2a52-7a8e-4f57-9a3e-0d7a9f1b2c3d';
const KEY = { aws_access_key_id: 'AKIAIOSFODNN7EXAMPLE', aws_secret_access_key: 'the-stored-secret' };
const ROLE = { ...KEY, aws_auth_type: 'assumedRole', aws_role_arn: 'arn:aws:iam::123456789012:role/reranker' } as const;
const OWN = { accessKeyId: 'AKIAGATEWAY', secretAccessKey: 'the-gateway-secret' };

const SETTINGS = { SECRET_MANAGER_TIMEOUT_MS: 200 };

/** An identity in the gateway's settings. */
const known = ({ accessKeyId, secretAccessKey }: AwsIdentity): AwsOwnIdentity =>
  new AwsOwnIdentity({ ...SETTINGS, AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey });

const credential = (options: AwsOptions): Credential<AwsOptions> => ({
  key: undefined,
  options,
  organisationId: ORGANISATION,
});

const answer = (status: number, body: string): UpstreamAnswer => ({
  status,
  headers: {},
  body: Buffer.from(body),
});

const NAMESPACE = 'https://sts.amazonaws.com/doc/2011-06-15/';

const session = (expiresInSeconds: number, token: string): UpstreamAnswer =>
  sessionUntil(new Date(START.getTime() + expiresInSeconds * 1_000).toISOString(), token);

const sessionUntil = (expiration: string, token: string): UpstreamAnswer =>
  answer(
    200,
    `<AssumeRoleResponse xmlns="${NAMESPACE}"><AssumeRoleResult><Credentials><AccessKeyId>ASIASESSION</AccessKeyId>
    <SecretAccessKey>the-session-secret</SecretAccessKey><SessionToken>${token}</SessionToken>
    <Expiration>${expiration}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
  );

/** STS on a stopped clock: returns hour-long sessions with numbered tokens, or the given answer. */
class FakeSts {
  readonly requests: UpstreamRequest[] = [];
  now = START;
  reply: () => Promise<UpstreamAnswer> = () => {
    const elapsedSeconds = (this.now.getTime() - START.getTime()) / 1_000;
    return Promise.resolve(session(elapsedSeconds + 3_600, `token-${this.requests.length}`));
  };

  source(changes: Partial<AwsCredentialServices> = {}): AwsCredentialSource {
    return new AwsCredentialSource({
      send: (request) => {
        this.requests.push(request);
        return this.reply();
      },
      now: () => this.now,
      ownIdentity: known(OWN),
      allowedServiceRoleOrganisations: [],
      ...changes,
    });
  }

  wait(seconds: number): void {
    this.now = new Date(this.now.getTime() + seconds * 1_000);
  }
}

/** undici sends the length itself, and the SDK has signed it. */
function withLength(request: UpstreamRequest): UpstreamRequest {
  return { ...request, headers: { ...request.headers, 'content-length': String(request.body?.length) } };
}

describe('AwsCredentialSource', () => {
  describe('accessKey', () => {
    it('returns the access key of the virtual key, also by default', async () => {
      const sts = new FakeSts();
      const options = { ...KEY, aws_session_token: 'a-token' };
      expect(await sts.source().resolve(credential(options), 'us-east-1')).toEqual({
        accessKeyId: KEY.aws_access_key_id,
        secretAccessKey: KEY.aws_secret_access_key,
        sessionToken: 'a-token',
      });
      expect(sts.requests).toEqual([]);
    });

    it.each(['aws_access_key_id', 'aws_secret_access_key'])('refuses an access key without %s', async (field) => {
      const options = { ...KEY, [field]: undefined };
      await expect(new FakeSts().source().resolve(credential(options), 'us-east-1')).rejects.toMatchObject({
        code: 'secret_unavailable',
      });
    });
  });

  describe('assumedRole', () => {
    it('calls STS in the region, signed with the stored key', async () => {
      const sts = new FakeSts();
      await sts.source().resolve(credential({ ...ROLE, aws_external_id: 'their-id' }), 'eu-central-1');
      const [request] = sts.requests;
      if (request === undefined) throw new Error('STS was not asked');
      expect(request.method).toBe('POST');
      expect(request.url.href).toBe('https://sts.eu-central-1.amazonaws.com/');
      expect(Object.fromEntries(new URLSearchParams(request.body?.toString()))).toEqual({
        Action: 'AssumeRole',
        Version: '2011-06-15',
        RoleArn: ROLE.aws_role_arn,
        RoleSessionName: `tollgate-${ORGANISATION}`,
        ExternalId: 'their-id',
      });
      expect(readAuthorization(request)).toMatchObject({
        accessKeyId: KEY.aws_access_key_id,
        scope: expect.stringMatching(/^\d{8}\/eu-central-1\/sts\/aws4_request$/),
        signature: expectedSignature(withLength(request), KEY.aws_secret_access_key),
      });
    });

    it('calls STS at the address of the settings, signed for that host', async () => {
      const sts = new FakeSts();
      const source = sts.source({ stsEndpoint: 'http://127.0.0.1:4566' });
      await source.resolve(credential(ROLE), 'eu-central-1');
      const [request] = sts.requests;
      if (request === undefined) throw new Error('STS was not asked');
      expect(request.url.href).toBe('http://127.0.0.1:4566/');
      expect(readAuthorization(request)).toMatchObject({
        scope: expect.stringMatching(/^\d{8}\/eu-central-1\/sts\/aws4_request$/),
        signature: expectedSignature(withLength(request), KEY.aws_secret_access_key),
      });
      await expect(source.resolve(credential(ROLE), 'evil.example')).rejects.toMatchObject({
        code: 'secret_unavailable',
      });
      expect(sts.requests).toHaveLength(1);
    });

    it('returns the credentials of the session', async () => {
      expect(await new FakeSts().source().resolve(credential(ROLE), 'us-east-1')).toEqual({
        accessKeyId: 'ASIASESSION',
        secretAccessKey: 'the-session-secret',
        sessionToken: 'token-1',
      });
    });

    it('leaves ExternalId out when there is none', async () => {
      const sts = new FakeSts();
      await sts.source().resolve(credential(ROLE), 'us-east-1');
      expect(sts.requests[0]?.body?.toString()).not.toContain('ExternalId');
    });

    it('keeps the session until five minutes before its end', async () => {
      const sts = new FakeSts();
      const source = sts.source();
      const token = async () => (await source.resolve(credential(ROLE), 'us-east-1')).sessionToken;
      expect(await token()).toBe('token-1');
      sts.wait(3_600 - 301);
      expect(await token()).toBe('token-1');
      sts.wait(1);
      expect(await token()).toBe('token-2');
      expect(await token()).toBe('token-2');
    });

    it('requests a new session when AWS refuses one, and keeps those of others', async () => {
      const sts = new FakeSts();
      const source = sts.source();
      const other = { ...credential(ROLE), organisationId: 'other' };
      const [first, kept] = [
        await source.resolve(credential(ROLE), 'us-east-1'),
        await source.resolve(other, 'us-east-1'),
      ];
      expect(source.forget(credential(ROLE), first)).toBe(true);
      const second = await source.resolve(credential(ROLE), 'us-east-1');
      expect(second.sessionToken).toBe('token-3');
      // Of two calls that are refused, the later one finds the new session.
      expect(source.forget(credential(ROLE), first)).toBe(true);
      expect(await source.resolve(credential(ROLE), 'us-east-1')).toBe(second);
      expect(await source.resolve(other, 'us-east-1')).toBe(kept);
      expect(source.forget(credential(KEY), await source.resolve(credential(KEY), 'us-east-1'))).toBe(false);
    });

    it('requests one session for concurrent calls', async () => {
      const sts = new FakeSts();
      const source = sts.source();
      const calls = Array.from({ length: 20 }, () => source.resolve(credential(ROLE), 'us-east-1'));
      expect(new Set((await Promise.all(calls)).map((keys) => keys.sessionToken))).toEqual(new Set(['token-1']));
      expect(sts.requests).toHaveLength(1);
    });

    it.each<[string, AwsOptions]>([
      ['role', { ...ROLE, aws_role_arn: 'arn:aws:iam::123456789012:role/other' }],
      ['external id', { ...ROLE, aws_external_id: 'other' }],
      ['access key', { ...ROLE, aws_access_key_id: 'AKIAIOSFODNN7OTHER00' }],
      ['secret', { ...ROLE, aws_secret_access_key: 'a-rotated-secret' }],
    ])('does not share a session with another %s', async (_name, other) => {
      const sts = new FakeSts();
      const source = sts.source();
      await source.resolve(credential(ROLE), 'us-east-1');
      expect((await source.resolve(credential(other), 'us-east-1')).sessionToken).toBe('token-2');
    });

    it('does not share a session with another organisation', async () => {
      const sts = new FakeSts();
      const source = sts.source();
      await source.resolve(credential(ROLE), 'us-east-1');
      await source.resolve({ ...credential(ROLE), organisationId: 'another' }, 'us-east-1');
      expect(sts.requests).toHaveLength(2);
    });

    it('requests a session again after a failure', async () => {
      const sts = new FakeSts();
      const source = sts.source();
      const good = sts.reply;
      sts.reply = () => Promise.resolve(answer(503, 'busy'));
      await expect(source.resolve(credential(ROLE), 'us-east-1')).rejects.toMatchObject({ code: 'secret_unavailable' });
      sts.reply = good;
      expect((await source.resolve(credential(ROLE), 'us-east-1')).sessionToken).toBe('token-2');
    });

    const refusal = (code: string): string =>
      `<ErrorResponse xmlns="${NAMESPACE}"><Error><Type>Sender</Type><Code>${code}</Code><Message>a-secret</Message></Error></ErrorResponse>`;
    it.each<[string, () => Promise<UpstreamAnswer>, string]>([
      [
        'a refusal',
        () => Promise.resolve(answer(403, refusal('AccessDenied'))),
        'STS refused AssumeRole: status 403, code AccessDenied',
      ],
      [
        'a refusal with words for a code',
        () => Promise.resolve(answer(403, refusal('a secret'))),
        'STS refused AssumeRole: status 403, code unknown',
      ],
      ['no session', () => Promise.resolve(answer(200, '<AssumeRoleResponse/>')), 'STS answered in an unknown form'],
      ['no XML', () => Promise.resolve(answer(200, '{"a":')), 'STS answered in an unknown form'],
      ['no end', () => Promise.resolve(sessionUntil('never', 't')), 'STS answered in an unknown form'],
      ['no connection', () => Promise.reject(new UpstreamFailure('connect', 'refused')), 'STS: connect'],
      ['a defect', () => Promise.reject(new Error('x')), 'STS could not be asked'],
    ])('logs why there is no session: %s', async (_name, reply, reason) => {
      const sts = new FakeSts();
      sts.reply = reply;
      const failed = sts.source().resolve(credential(ROLE), 'us-east-1');
      await expect(failed).rejects.toMatchObject({ code: 'secret_unavailable', reason });
    });

    it('keeps secrets out of its errors', async () => {
      const sts = new FakeSts();
      const secrets = [KEY.aws_secret_access_key, 'the-session-secret', 'a-session-token'];
      const broken = session(0, 'a-session-token').body.toString().replace('</SecretAccessKey>', '</Other>');
      sts.reply = () => Promise.resolve(answer(200, broken));
      const error: unknown = await sts
        .source()
        .resolve(credential(ROLE), 'us-east-1')
        .catch((cause: unknown) => cause);
      const seen = JSON.stringify(error, Object.getOwnPropertyNames(error)) + String(error);
      for (const secret of secrets) expect(seen).not.toContain(secret);
    });
  });

  describe('serviceRole', () => {
    const options: AwsOptions = { aws_auth_type: 'serviceRole' };
    const allowedServiceRoleOrganisations = ['another', ORGANISATION];

    it('returns the gateway’s own identity for organisations that the operator names', async () => {
      const source = new FakeSts().source({ ownIdentity: known(OWN), allowedServiceRoleOrganisations });
      expect(await source.resolve(credential(options), 'us-east-1')).toEqual(OWN);
    });

    it.each([[[]], [['another']]])(
      "does not look for the gateway's identity when the operator names %j",
      async (organisations) => {
        const nobody = new AwsOwnIdentity(SETTINGS, () => {
          throw new Error('was looked for');
        });
        const source = new FakeSts().source({
          ownIdentity: nobody,
          allowedServiceRoleOrganisations: organisations,
        });
        await expect(source.resolve(credential(options), 'us-east-1')).rejects.toMatchObject({
          code: 'permission_denied',
        });
      },
    );

    it.each<[string, () => Promise<AwsIdentity>, string]>([
      [
        'none',
        () => Promise.reject(Object.assign(new Error('a-secret'), { name: 'CredentialsProviderError' })),
        'the gateway has no AWS identity of its own',
      ],
      [
        'none in time',
        () => new Promise(() => undefined),
        "the gateway's own AWS identity was not found within 200 ms",
      ],
      [
        'something else',
        () => Promise.reject(new TypeError('a-secret')),
        "the gateway's own AWS identity was not found: TypeError",
      ],
    ])('refuses the service role when the gateway finds %s', async (_what, find, reason) => {
      const ownIdentity = new AwsOwnIdentity(SETTINGS, () => Promise.resolve(find));
      const source = new FakeSts().source({ ownIdentity, allowedServiceRoleOrganisations });
      await expect(source.resolve(credential(options), 'us-east-1')).rejects.toMatchObject({
        code: 'secret_unavailable',
        reason,
      });
    });

    it("looks for the gateway's identity again when AWS refuses it, unless it is in the settings", async () => {
      const found = [OWN, { ...OWN, secretAccessKey: 'the-next-secret' }];
      const ownIdentity = new AwsOwnIdentity(SETTINGS, async () => {
        const [identity = OWN] = found.splice(0, 1);
        return () => Promise.resolve(identity);
      });
      const source = new FakeSts().source({ ownIdentity, allowedServiceRoleOrganisations });
      const first = await source.resolve(credential(options), 'us-east-1');
      expect(source.forget(credential(KEY), first)).toBe(false);
      expect(await source.resolve(credential(options), 'us-east-1')).toEqual(OWN);
      expect(source.forget(credential(options), first)).toBe(true);
      expect(await source.resolve(credential(options), 'us-east-1')).toMatchObject({
        secretAccessKey: 'the-next-secret',
      });

      const fixed = new FakeSts().source({ ownIdentity: known(OWN), allowedServiceRoleOrganisations });
      expect(fixed.forget(credential(options), OWN)).toBe(false);
    });
  });
});
