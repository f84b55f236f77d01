import { describe, expect, it } from '@jest/globals';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import type { AwsOptions } from '../aws/aws-credentials.js';
import type { AwsCredentials } from '../aws/aws-signature.js';
import { BedrockOptions, createBedrockProvider } from './bedrock.provider.js';
import { credentialWith } from './__fixtures__/credentials.js';
import { expectedSignature, readAuthorization } from '../aws/__fixtures__/sigv4-verifier.js';
import type { Credential, DialectSlug } from './provider.types.js';

const KEY = { aws_access_key_id: 'AKIAIOSFODNN7EXAMPLE', aws_secret_access_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCY' };
const ROLE = { ...KEY, aws_auth_type: 'assumedRole', aws_role_arn: 'arn:aws:iam::123456789012:role/team/reranker' };
const NOW = new Date('2026-11-21T12:00:00Z');

class FakeCredentials {
  readonly asked: string[] = [];
  readonly forgotten: string[] = [];

  resolve(credential: Credential<AwsOptions>, region: string) {
    this.asked.push(`${credential.organisationId} ${region}`);
    return Promise.resolve({ accessKeyId: 'ASIASESSION', secretAccessKey: 'secret', sessionToken: 'token' });
  }

  forget(_credential: Credential<AwsOptions>, refused: AwsCredentials): boolean {
    this.forgotten.push(refused.accessKeyId);
    return true;
  }
}

const provider = createBedrockProvider(new FakeCredentials());
const keyless = (options: BedrockOptions): Credential<BedrockOptions> => ({
  key: undefined,
  options,
  organisationId: 'org',
});
const rerank = (options: BedrockOptions, region?: string) =>
  provider.address(
    { method: 'POST', path: '/rerank', body: { a: 1 }, ...(region === undefined ? {} : { region }) },
    keyless(options),
  );
const wrongFields = (options: object): readonly string[] =>
  validateSync(plainToInstance(BedrockOptions, options)).map((error) => error.property);
const problems = (options: object, key?: string): readonly string[] =>
  provider.checkOptions?.(plainToInstance(BedrockOptions, options), key).map((problem) => problem.param) ?? [];

describe('the address of bedrock', () => {
  it.each([
    ['us-east-1', 'https://bedrock-agent-runtime.us-east-1.amazonaws.com/rerank'],
    ['cn-north-1', 'https://bedrock-agent-runtime.cn-north-1.amazonaws.com.cn/rerank'],
  ])('calls Bedrock in the region %s, from the model or from the virtual key', (region, url) => {
    expect(rerank({}, region).url.href).toBe(url);
    expect(rerank({ aws_region: region }).url.href).toBe(url);
    expect(rerank({ aws_region: region }, region).url.href).toBe(url);
  });

  it('refuses a model in another region than the virtual key’s', () => {
    expect(() => rerank({ aws_region: 'us-east-1' }, 'us-west-2')).toThrow(
      expect.objectContaining({ code: 'validation_failed', param: 'model' }),
    );
  });

  it.each([[{}], [{ base_url: 'https://vpce.example' }]])('requires a region with %j', (options) => {
    expect(() => rerank(options)).toThrow(expect.objectContaining({ param: 'config.aws_region' }));
  });

  it('calls a private endpoint of Bedrock', () => {
    const options = { base_url: 'https://vpce.example/x', aws_region: 'us-east-1' };
    expect(rerank(options, 'us-east-1').url.href).toBe('https://vpce.example/x/rerank');
  });

  it('stays on the host of Bedrock with any region', () => {
    expect(() => rerank({ aws_region: 'evil.example/' })).toThrow(
      expect.objectContaining({ code: 'secret_unavailable' }),
    );
    expect(() => rerank({}, 'evil.example')).toThrow(expect.objectContaining({ code: 'secret_unavailable' }));
  });
});

describe('the control plane of bedrock', () => {
  const path = `/model-invocation-job/${encodeURIComponent('arn:aws:bedrock:us-east-1:1:model-invocation-job/a')}`;
  const control = (options: BedrockOptions, region?: string) =>
    provider.address({ method: 'GET', path, query: { nextToken: 'a+/=' }, plane: 'control', region }, keyless(options));
  const target = `${path}?nextToken=a%2B%2F%3D`;

  it.each<[string, BedrockOptions, string | undefined, string]>([
    ['the job', {}, 'us-east-1', 'https://bedrock.us-east-1.amazonaws.com'],
    ['the virtual key', { aws_region: 'cn-north-1' }, undefined, 'https://bedrock.cn-north-1.amazonaws.com.cn'],
    ['both', { aws_region: 'us-east-1' }, 'us-east-1', 'https://bedrock.us-east-1.amazonaws.com'],
    [
      'the virtual key, behind another host',
      { aws_region: 'us-east-1', base_url: 'https://vpce.example/x' },
      'us-east-1',
      'https://vpce.example/x',
    ],
  ])('calls the host of the control plane, in the region of %s', (_name, options, region, base) => {
    expect(control(options, region).url.href).toBe(base + target);
  });

  it('signs calls of the control plane as bedrock, with the encoded ARN and the query', async () => {
    const signer = createBedrockProvider(new FakeCredentials()).signer?.(keyless({}));
    const signed = await signer?.sign(control({}, 'us-east-1'), NOW);
    if (signed === undefined) throw new Error('bedrock signs');
    expect(signed.url.href).toBe(`https://bedrock.us-east-1.amazonaws.com${target}`);
    expect(readAuthorization(signed)).toMatchObject({
      scope: '20261121/us-east-1/bedrock/aws4_request',
      signature: expectedSignature(signed, 'secret'),
    });
  });
});

describe('the signature of bedrock', () => {
  it.each<[string, BedrockOptions, string | undefined, string]>([
    ['the model', {}, 'eu-central-1', 'eu-central-1'],
    ['the virtual key', { aws_region: 'us-west-2' }, undefined, 'us-west-2'],
    [
      'the virtual key, behind another host',
      { aws_region: 'us-west-2', base_url: 'https://a.b.c' },
      undefined,
      'us-west-2',
    ],
  ])('signs for the region of %s', async (_name, options, modelRegion, region) => {
    const credentials = new FakeCredentials();
    const signed = await createBedrockProvider(credentials)
      .signer?.(keyless(options))
      ?.sign(rerank(options, modelRegion), NOW);
    if (signed === undefined) throw new Error('bedrock signs');
    expect(credentials.asked).toEqual([`org ${region}`]);
    expect(readAuthorization(signed)).toEqual({
      accessKeyId: 'ASIASESSION',
      scope: `20261121/${region}/bedrock/aws4_request`,
      signature: expectedSignature(signed, 'secret'),
      signedHeaders: expect.arrayContaining(['host', 'x-amz-content-sha256', 'x-amz-date', 'x-amz-security-token']),
    });
  });
});

describe('the models of bedrock', () => {
  const asked = (slug: DialectSlug, model: string, options: BedrockOptions) => {
    const path = provider.dialects?.[slug]?.(model, options, false);
    if (path === undefined) throw new Error(`bedrock does not speak ${slug}`);
    return provider.address({ method: 'POST', path, bytes: Buffer.from('{}') }, keyless(options));
  };
  const MANTLE = 'https://bedrock-mantle.us-east-1.api.aws';
  const RUNTIME = 'https://bedrock-runtime.us-east-1.amazonaws.com';

  it.each<[DialectSlug, string, Readonly<Record<string, string>>, string, string]>([
    ['openai-chat', 'openai.gpt-oss-120b', {}, `${MANTLE}/v1/chat/completions`, 'bedrock-mantle'],
    ['openai-chat', 'openai.gpt-5.6-sol', {}, `${MANTLE}/openai/v1/chat/completions`, 'bedrock-mantle'],
    ['openai-responses', 'openai.gpt-5.5', {}, `${MANTLE}/openai/v1/responses`, 'bedrock-mantle'],
    ['anthropic-messages', 'anthropic.claude-sonnet-5', {}, `${MANTLE}/anthropic/v1/messages`, 'bedrock-mantle'],
    [
      'openai-responses',
      'us.openai.gpt-6-sol',
      { bedrock_endpoint: 'runtime' },
      `${RUNTIME}/openai/v1/responses`,
      'bedrock',
    ],
    [
      'anthropic-messages',
      'anthropic.claude-sonnet-5',
      { bedrock_endpoint: 'runtime' },
      `${RUNTIME}/anthropic/v1/messages`,
      'bedrock',
    ],
    [
      'openai-chat',
      'openai.gpt-oss-120b',
      { base_url: 'https://vpce.example/x' },
      'https://vpce.example/x/v1/chat/completions',
      'bedrock-mantle',
    ],
  ])('take %s of %s with %j at their address, signed for it', async (slug, model, more, url, service) => {
    const options = plainToInstance(BedrockOptions, { aws_region: 'us-east-1', ...more });
    const request = asked(slug, model, options);
    expect(request.url.href).toBe(url);
    const signed = await provider.signer?.(keyless(options))?.sign(request, NOW);
    if (signed === undefined) throw new Error('bedrock signs');
    expect(readAuthorization(signed)).toMatchObject({
      scope: `20261121/us-east-1/${service}/aws4_request`,
      signature: expectedSignature(signed, 'secret'),
    });
  });

  it('need a region, and stay on the hosts of Bedrock with any', () => {
    const refused = (options: BedrockOptions) => () => asked('openai-chat', 'openai.gpt-oss-120b', options);
    expect(refused({})).toThrow(expect.objectContaining({ param: 'config.aws_region' }));
    expect(refused({ aws_region: 'evil.example/' })).toThrow(expect.objectContaining({ code: 'secret_unavailable' }));
  });
});

describe('the credentials of bedrock', () => {
  const refusedBy = (name: string) => ({ status: 403, headers: { 'x-amzn-errortype': name } });

  it('drops credentials that AWS does not accept, and keeps those that lack a permission', async () => {
    const credentials = new FakeCredentials();
    const signer = createBedrockProvider(credentials).signer?.(keyless({}));
    expect(signer?.renew?.(refusedBy('ExpiredTokenException'))).toBe(false);
    await signer?.sign(rerank({}, 'us-east-1'), NOW);
    expect(signer?.renew?.(refusedBy('AccessDeniedException'))).toBe(false);
    expect(signer?.renew?.({ status: 200, headers: {} })).toBe(false);
    expect(credentials.forgotten).toEqual([]);
    expect(signer?.renew?.(refusedBy('ExpiredTokenException'))).toBe(true);
    expect(credentials.forgotten).toEqual(['ASIASESSION']);
  });
});

describe('the options of bedrock', () => {
  it.each([
    { ...KEY, aws_region: 'us-east-1' },
    { ...ROLE, aws_external_id: 'id:1' },
    { aws_auth_type: 'serviceRole' },
  ])('accepts the options %j', (options) => {
    expect(wrongFields(options)).toEqual([]);
    expect(problems(options)).toEqual([]);
  });

  it.each([
    [{ aws_auth_type: 'apiKey' }, 'aws_auth_type'],
    [{ aws_access_key_id: 'short' }, 'aws_access_key_id'],
    [{ aws_secret_access_key: 'a b' }, 'aws_secret_access_key'],
    [{ aws_session_token: 'a\nb' }, 'aws_session_token'],
    [{ aws_role_arn: 'reranker' }, 'aws_role_arn'],
    [{ aws_role_arn: 'arn:aws:iam::123456789012:user/x' }, 'aws_role_arn'],
    [{ aws_external_id: 'x' }, 'aws_external_id'],
    [{ aws_region: 'us-east-1.evil.example' }, 'aws_region'],
    [{ aws_region: 'us-east-1\n' }, 'aws_region'],
    [{ aws_region: 7 }, 'aws_region'],
    [{ bedrock_endpoint: 'agent' }, 'bedrock_endpoint'],
  ])('refuses the options %j', (options, field) => {
    expect(wrongFields(options)).toEqual([field]);
  });

  it.each([
    [{}, ['aws_access_key_id', 'aws_secret_access_key']],
    [{ ...KEY, aws_secret_access_key: '' }, ['aws_secret_access_key']],
    [{ ...KEY, aws_role_arn: ROLE.aws_role_arn }, ['aws_role_arn']],
    [{ ...ROLE, aws_role_arn: undefined }, ['aws_role_arn']],
    [{ aws_auth_type: 'assumedRole' }, ['aws_access_key_id', 'aws_secret_access_key', 'aws_role_arn']],
    [{ ...KEY, aws_auth_type: 'serviceRole' }, ['aws_access_key_id', 'aws_secret_access_key']],
    [{ ...KEY, base_url: 'https://vpce.example' }, ['aws_region']],
  ])('names the missing or unused options in %j', (options, fields) => {
    expect(problems(options)).toEqual(fields.map((field) => `config.${field}`));
  });

  it('refuses the credentials of AWS beside a Bedrock API key', () => {
    expect(problems(KEY, 'a-key')).toEqual(['config.aws_access_key_id', 'config.aws_secret_access_key']);
  });
});

describe('a Bedrock API key', () => {
  const credential = credentialWith(plainToInstance(BedrockOptions, { aws_region: 'us-east-1' }), 'bedrock-api-key');

  it('needs no other credential, and is sent without a signature', () => {
    expect(problems({ aws_region: 'us-east-1' }, 'bedrock-api-key')).toEqual([]);
    const { headers } = provider.address({ method: 'POST', path: '/model/m/converse', body: {} }, credential);
    expect(headers['authorization']).toBe('Bearer bedrock-api-key');
    expect(provider.signer?.(credential)).toBeUndefined();
  });
});

describe('the own API of bedrock', () => {
  it.each([
    ['bedrock-converse', false, 'amazon.nova-lite-v1:0', '/model/amazon.nova-lite-v1%3A0/converse'],
    ['bedrock-converse', true, "a'(b)", '/model/a%27%28b%29/converse-stream'],
    ['bedrock-invoke', false, 'arn:aws:x/y', '/model/arn%3Aaws%3Ax%2Fy/invoke'],
    ['bedrock-invoke', true, 'm', '/model/m/invoke-with-response-stream'],
  ] as const)('is at the runtime with any endpoint: %s, as a stream: %s', (slug, isStream, model, path) => {
    const options = plainToInstance(BedrockOptions, { ...KEY, aws_region: 'eu-west-1', bedrock_endpoint: 'mantle' });
    const made = provider.dialects?.[slug]?.(model, options, isStream) ?? '';
    expect(made).toBe(path);
    const { url } = provider.address({ method: 'POST', path: made, body: {} }, keyless(options));
    expect(url.href).toBe(`https://bedrock-runtime.eu-west-1.amazonaws.com${path}`);
  });
});
