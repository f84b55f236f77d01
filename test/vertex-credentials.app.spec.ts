import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FakeGoogle, SUBJECT_TOKEN } from '../src/upstream/google/__fixtures__/fake-google.js';
import { FakeAwsSecrets } from './support/fake-aws-secrets.js';
import { type FakeProvider, json, startFakeProvider } from './support/fake-provider.js';
import { GatewayClient } from './support/gateway-client.js';
import { refusalOf, send, type Answer } from './support/send.js';
import { ADMIN_KEY, startTestApp, type TestApp } from './support/test-app.js';

const PLACE = { google_project: 'my-project', google_location: 'global' };
const BODY = '{"model":"google/gemini-2.5-flash","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}';
const CHAT = { choices: [{ message: { role: 'assistant', content: 'Hi' } }], usage: { prompt_tokens: 7 } };

let server: FakeProvider;
let google: FakeGoogle;
let app: TestApp | undefined;

beforeEach(async () => {
  server = await startFakeProvider();
  google = new FakeGoogle(server.url);
  server.replyWith((response, call) => {
    void google.answer(call).then((answer) => {
      const { json: body, status } = answer ?? { json: CHAT, status: 200 };
      json(body, status)(response, call);
    });
  });
});
afterEach(async () => {
  await app?.close();
  app = undefined;
  await server.close();
});

async function start(settings: Readonly<Record<string, string>>, keepDatabase = false): Promise<GatewayClient> {
  app = await startTestApp({ GOOGLE_API_HOSTS: '127.0.0.1', ...settings }, keepDatabase);
  return new GatewayClient(app.url);
}

function chat(key: unknown): Promise<Answer> {
  const headers = { 'content-type': 'application/json', 'x-gateway-api-key': ADMIN_KEY };
  const named = { ...headers, 'x-gateway-virtual-key': String(key) };
  return send(`${app?.url}/v1/chat/completions`, { headers: named, body: BODY });
}

describe("an identity of the gateway's machine", () => {
  const METADATA = '/computeMetadata/v1/instance/service-accounts/default/token';
  const AWS = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE123456789', AWS_SECRET_ACCESS_KEY: 'aws-secret' };
  const folder = mkdtempSync(join(tmpdir(), 'vertex-'));
  const file = join(folder, 'token');
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is for organisations that may use it, although EGRESS_ALLOW does not name the metadata server', async () => {
    writeFileSync(file, SUBJECT_TOKEN);
    const client = await start({});
    const keyWith = async (more: object): Promise<unknown> => {
      const config = { ...PLACE, base_url: server.url, ...more };
      return (await client.create('/v1/virtual-keys', { name: 'own', provider: 'vertex', config }))['slug'];
    };
    const ofMachine = await keyWith({ google_auth_type: 'metadata' });
    const ofFile = await keyWith({ google_credentials: google.externalAccount({ file }) });
    const ofAws = await keyWith({ google_credentials: google.externalAccount({ environment_id: 'aws1' }) });
    for (const key of [ofMachine, ofFile, ofAws]) {
      expect(refusalOf(await chat(key))).toMatchObject({ code: 'permission_denied' });
    }
    expect(google.asked).toEqual([]);
    const { organisation_id } = await client.read('/v1/workspaces/default');
    const organisation = String(organisation_id);
    await app?.close();

    const allowed = {
      GOOGLE_IDENTITY_ORGANISATIONS: organisation.toUpperCase(),
      GOOGLE_SUBJECT_TOKEN_FILES: file,
      // A name that its own guard alone allows, at the port of the fake.
      GCE_METADATA_HOST: server.url.replace('http://127.0.0.1', 'localhost'),
    };
    await start({ ...allowed, ...AWS, AWS_SERVICE_ROLE_ORGANISATIONS: organisation }, true);
    for (let call = 0; call < 2; call += 1) expect((await chat(ofMachine)).status).toBe(200);
    expect((await chat(ofFile)).status).toBe(200);
    google.acceptsSubject = (token) => token.includes(AWS.AWS_ACCESS_KEY_ID);
    expect((await chat(ofAws)).status).toBe(200);
    expect(google.asked).toEqual([METADATA, '/v1/token', '/v1/token']);
    await app?.close();

    await start({ ...allowed, GOOGLE_API_HOSTS: '.googleapis.com' }, true);
    expect(refusalOf(await chat(ofMachine))).toMatchObject({ code: 'secret_unavailable' });
    expect(app?.log()).toContain('GOOGLE_API_HOSTS does not include 127.0.0.1');
    expect(app?.log()).not.toContain('ya29');
  });
});

describe('a secret reference', () => {
  it('holds the file, and a new key after the old one is deleted', async () => {
    const aws = await new FakeAwsSecrets().start();
    try {
      const user = aws.addUser('gateway');
      aws.addSecret({ name: 'prod/google', value: google.serviceAccountKey() });
      const client = await start({ AWS_ENDPOINT_URL_SECRETS_MANAGER: aws.url });
      const { id } = await client.create('/v1/secret-references', {
        name: 'google',
        manager_type: 'aws_sm',
        auth_config: {
          aws_auth_type: 'accessKey',
          aws_access_key_id: user.accessKeyId,
          aws_secret_access_key: user.secretAccessKey,
          aws_region: 'eu-central-1',
        },
        secret_path: 'prod/google',
      });
      const { slug } = await client.create('/v1/virtual-keys', {
        name: 'referenced',
        provider: 'vertex',
        config: { ...PLACE, base_url: server.url },
        secret_mappings: [{ target_field: 'config.google_credentials', secret_reference_id: id }],
      });
      expect((await chat(slug)).status).toBe(200);
      const shown = await client.read(`/v1/virtual-keys/${String(slug)}`);
      expect(JSON.stringify(shown)).not.toContain('PRIVATE KEY');
      google.forgetKeys();
      google.revokeTokens();
      expect(refusalOf(await chat(slug))).toMatchObject({ status: 502, code: 'provider_credential_rejected' });
      aws.addSecret({ name: 'prod/google', value: google.serviceAccountKey() });
      expect((await chat(slug)).status).toBe(200);
    } finally {
      await aws.close();
    }
  });
});
