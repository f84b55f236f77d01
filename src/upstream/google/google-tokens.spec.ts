import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { expectedSignature, readAuthorization } from '../aws/__fixtures__/sigv4-verifier.js';
import { UpstreamFailure } from '../upstream.types.js';
import { AUDIENCE, CLIENT, FakeGoogle, newKeyPair, ROBOT, SUBJECT_TOKEN } from './__fixtures__/fake-google.js';
import { type GoogleOptions, type GoogleTokenServices, GoogleTokenSource } from './google-tokens.js';

const FAKE = 'https://google.example';
const VERTEX = new URL('https://europe-west4-aiplatform.googleapis.com/v1/x');
const AWS_KEY = { accessKeyId: 'ASIAEXAMPLE123456789', secretAccessKey: 'aws-secret', sessionToken: 'aws-session' };
const folder = mkdtempSync(join(tmpdir(), 'google-'));
const FILE = join(folder, 'token');

let now: Date;
let google: FakeGoogle;
let allowed: string[];

beforeEach(() => {
  now = new Date('2026-11-28T12:00:00Z');
  google = new FakeGoogle(FAKE, () => now);
  allowed = ['org'];
  writeFileSync(FILE, `${SUBJECT_TOKEN}\n`);
});
afterAll(() => rmSync(folder, { recursive: true }));

const sourceWith = (more: Partial<GoogleTokenServices> = {}): GoogleTokenSource =>
  new GoogleTokenSource({
    send: google.send,
    sendToMachine: google.send,
    now: () => now,
    awsIdentity: () => Promise.resolve(AWS_KEY),
    metadataHost: 'metadata.google.internal',
    files: [FILE],
    allowedOrganisations: allowed,
    allowedHosts: ['.googleapis.com', 'google.example'],
    ...more,
  });
const credentialOf = (options: GoogleOptions, organisationId = 'org') => ({ key: undefined, options, organisationId });
const withJson = (google_credentials: string) => credentialOf({ google_credentials });
const tokenOf = async (source: GoogleTokenSource, credential = withJson(google.serviceAccountKey()), url = VERTEX) =>
  source.resolve(credential, url);
const refusalOf = async (work: Promise<unknown>) => {
  const error: unknown = await work.then(
    () => 'no refusal',
    (thrown: unknown) => thrown,
  );
  return error;
};

describe('the key of a service account', () => {
  it('gives a token for a signed assertion', async () => {
    expect(await tokenOf(sourceWith())).toBe('ya29.token-1');
    expect(google.asked).toEqual(['/token']);
  });

  it.each<[string, object]>([
    ['another audience', { token_uri: `${FAKE}/token?x=1` }],
    ['another issuer', { client_email: 'nobody@x.iam.gserviceaccount.com' }],
    ['an unknown key', { private_key_id: 'other' }],
    [
      'a key that signs for another id',
      { private_key: newKeyPair().privateKey.export({ type: 'pkcs8', format: 'pem' }) },
    ],
  ])('is refused for %s, in the words of Google', async (_what, more) => {
    const credential = withJson(google.serviceAccountKey(more));
    expect(await refusalOf(tokenOf(sourceWith(), credential))).toMatchObject({
      code: 'provider_credential_rejected',
      provider: { status: 400, words: expect.stringContaining('Invalid JWT') },
      reason: expect.stringMatching(/^google\.example answered 400 \(invalid_grant\): /),
    });
  });

  it('asks once for calls at the same time, and again shortly before the end of the token', async () => {
    const source = sourceWith();
    const credential = withJson(google.serviceAccountKey());
    const resolve = () => tokenOf(source, credential);
    const first = await Promise.all(Array.from({ length: 20 }, resolve));
    expect(new Set(first)).toEqual(new Set(['ya29.token-1']));
    now = new Date(now.getTime() + 54 * 60_000);
    expect(await resolve()).toBe('ya29.token-1');
    now = new Date(now.getTime() + 60_000);
    expect(await resolve()).toBe('ya29.token-2');
    expect(google.asked).toHaveLength(2);
  });

  it('asks again after a failure, and for each organisation and credential', async () => {
    let isDown = true;
    const source = sourceWith({
      send: (request) => (isDown ? Promise.reject(new UpstreamFailure('timeout', 'no answer')) : google.send(request)),
    });
    const credential = withJson(google.serviceAccountKey());
    expect(await refusalOf(tokenOf(source, credential))).toMatchObject({
      code: 'secret_unavailable',
      reason: 'google.example: timeout: no answer',
    });
    isDown = false;
    expect(await tokenOf(source, credential)).toBe('ya29.token-1');
    const others = [{ ...credential, options: { ...credential.options }, organisationId: 'other' }];
    others.push(withJson(google.serviceAccountKey()));
    for (const other of others) await tokenOf(source, other);
    expect(google.asked).toHaveLength(3);
  });

  it('gets another token after Google has refused the one that it has', async () => {
    const source = sourceWith();
    const credential = withJson(google.serviceAccountKey());
    const refused = await tokenOf(source, credential);
    expect(source.forget(credential, refused)).toBe(true);
    expect(await tokenOf(source, credential)).toBe('ya29.token-2');
    // Of a call that began before.
    source.forget(credential, refused);
    expect(await tokenOf(source, credential)).toBe('ya29.token-2');
  });

  it.each([
    ['a page', '<html>'],
    ['no token', '{"expires_in":3599}'],
    ['no end', '{"access_token":"x"}'],
    ['an end that was', '{"access_token":"x","expires_in":0}'],
    ['a line break', '{"access_token":"a\\nb","expires_in":10}'],
  ])('cannot be used where the answer has %s', async (_what, body) => {
    const send = () => Promise.resolve({ status: 200, headers: {}, body: Buffer.from(body) });
    expect(await refusalOf(tokenOf(sourceWith({ send })))).toMatchObject({
      code: 'secret_unavailable',
      reason: 'google.example answered in an unknown form',
    });
  });

  it('works for tokens that end soon', async () => {
    const short = { access_token: 'short', expires_in: 200 };
    let asked = 0;
    const send = () => {
      asked += 1;
      return Promise.resolve({ status: 200, headers: {}, body: Buffer.from(JSON.stringify(short)) });
    };
    const source = sourceWith({ send });
    const credential = withJson(google.serviceAccountKey());
    for (let call = 0; call < 3; call += 1) await tokenOf(source, credential);
    expect(asked).toBe(1);
    now = new Date(now.getTime() + 100_000);
    await tokenOf(source, credential);
    expect(asked).toBe(2);
  });
});

const identity = (more: object = {}) => ({
  url: `${FAKE}/identity`,
  headers: { 'X-Secret': 'open' },
  format: { type: 'json', subject_token_field_name: 'jwt' },
  ...more,
});

describe('an external account', () => {
  it.each<[string, () => object, object, string[]]>([
    ['a token in a file', () => ({ file: FILE }), {}, ['/v1/token']],
    ['a token at an address', identity, CLIENT, ['/identity', '/v1/token']],
    [
      'a service account that it acts as',
      () => ({ file: FILE }),
      { service_account_impersonation_url: `${FAKE}/v1/projects/-/serviceAccounts/${ROBOT}:generateAccessToken` },
      ['/v1/token', `/v1/projects/-/serviceAccounts/${ROBOT}:generateAccessToken`],
    ],
  ])('gives a token for %s', async (_what, source, more, asked) => {
    const credential = withJson(google.externalAccount(source(), more));
    expect(await tokenOf(sourceWith(), credential)).toMatch(/^ya29\.token-\d$/);
    expect(google.asked).toEqual(asked);
  });

  it('proves with a signed question who the gateway is at AWS', async () => {
    let sent = '';
    const send: GoogleTokenServices['send'] = (request) => {
      sent = new URLSearchParams(request.body?.toString()).get('subject_token') ?? '';
      google.acceptsSubject = (token) => token === sent;
      return google.send(request);
    };
    const source = sourceWith({ send, allowedOrganisations: [] });
    await tokenOf(
      source,
      withJson(google.externalAccount({ environment_id: 'aws1', url: 'http://169.254.169.254/x' })),
    );
    const { url, method, headers } = JSON.parse(decodeURIComponent(sent));
    expect([method, url]).toEqual([
      'POST',
      'https://sts.us-east-1.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15',
    ]);
    const named = Object.fromEntries(headers.map(({ key, value }: Record<string, string>) => [key, value]));
    expect(named).toMatchObject({ 'x-goog-cloud-target-resource': AUDIENCE, host: 'sts.us-east-1.amazonaws.com' });
    const request = { method, url: new URL(url), headers: named } as const;
    expect(readAuthorization(request).signature).toBe(expectedSignature(request, AWS_KEY.secretAccessKey));
  });

  it('is refused in the words of Google, without the token that they repeat', async () => {
    writeFileSync(FILE, 'another-subject-0123456789');
    const refusal = await refusalOf(tokenOf(sourceWith(), withJson(google.externalAccount({ file: FILE }))));
    expect(refusal).toMatchObject({ code: 'provider_credential_rejected', provider: { code: 'invalid_grant' } });
    expect(JSON.stringify(refusal)).toContain('is stale');
    expect(JSON.stringify(refusal)).not.toContain('another-subject');
  });

  it.each<[string, object, object, object]>([
    ['a file that is not listed', { file: '/etc/passwd' }, {}, { code: 'permission_denied' }],
    ['an endpoint elsewhere', { file: FILE }, { token_url: 'https://evil.example/x' }, { code: 'secret_unavailable' }],
    [
      'a service account elsewhere',
      { file: FILE },
      { service_account_impersonation_url: 'https://evil.example/x' },
      { code: 'secret_unavailable' },
    ],
    ['an address that refuses', identity({ headers: {} }), {}, { code: 'provider_credential_rejected' }],
    ['an address without a token', identity({ format: { type: 'text' } }), {}, { code: 'secret_unavailable' }],
  ])('is not used with %s', async (_what, source, more, expected) => {
    const refusal = await refusalOf(tokenOf(sourceWith(), withJson(google.externalAccount(source, more))));
    expect(refusal).toMatchObject(expected);
    expect(google.asked).not.toContain('/v1/token');
  });
});

describe("an identity of the gateway's machine", () => {
  const METADATA = credentialOf({ google_auth_type: 'metadata' });

  it('comes from the metadata server', async () => {
    expect(await tokenOf(sourceWith(), METADATA)).toBe('ya29.token-1');
    expect(google.asked).toEqual(['/computeMetadata/v1/instance/service-accounts/default/token']);
  });

  it.each([
    ['the metadata server', () => METADATA],
    ['a file', () => withJson(google.externalAccount({ file: FILE }))],
    ['an address at plain http', () => withJson(google.externalAccount({ url: 'http://169.254.169.254/token' }))],
  ])('is for organisations that may use it, and for Google alone: %s', async (_what, credential) => {
    const mine = credential();
    expect(await refusalOf(tokenOf(sourceWith({ allowedOrganisations: ['other'] }), mine))).toMatchObject({
      code: 'permission_denied',
    });
    for (const url of [
      'https://evil.example/v1',
      'https://evilgoogleapis.com',
      'https://googleapis.com.evil.example',
    ]) {
      expect(await refusalOf(tokenOf(sourceWith(), mine, new URL(url)))).toMatchObject({
        code: 'secret_unavailable',
        reason: expect.stringContaining('GOOGLE_API_HOSTS'),
      });
    }
    expect(google.asked).toEqual([]);
  });

  it('is not kept for an organisation that may not use it any more', async () => {
    const source = sourceWith();
    await tokenOf(source, METADATA);
    allowed.length = 0;
    expect(await refusalOf(tokenOf(source, METADATA))).toMatchObject({ code: 'permission_denied' });
  });
});
