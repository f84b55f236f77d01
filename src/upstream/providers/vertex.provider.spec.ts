import { describe, expect, it } from '@jest/globals';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { FakeGoogle } from '../google/__fixtures__/fake-google.js';
import type { Credential, DialectSlug } from './provider.types.js';
import { createVertexProvider, VertexOptions } from './vertex.provider.js';

const PLACE = { google_project: 'my-project', google_location: 'europe-west4' };
const AT = '/v1/projects/my-project/locations/europe-west4';
const google = new FakeGoogle('https://google.example');

class FakeTokens {
  readonly forgotten: string[] = [];
  #given = 0;

  resolve(_credential: Credential, url: URL): string {
    this.#given += 1;
    return `token-${this.#given}-${url.hostname}`;
  }

  forget(_credential: Credential, refused: string): boolean {
    this.forgotten.push(refused);
    return true;
  }
}

const provider = createVertexProvider(new FakeTokens());
const keyless = (options: object): Credential<VertexOptions> => ({ key: undefined, options, organisationId: 'org' });
const urlOf = (options: object): string =>
  provider.address({ method: 'GET', path: '/cachedContents' }, keyless(options)).url.href;
const wrongFields = (options: object): readonly string[] =>
  validateSync(plainToInstance(VertexOptions, options)).map((error) => error.property);
const problems = (options: object, key?: string): readonly string[] =>
  provider.checkOptions?.(plainToInstance(VertexOptions, options), key).map(({ message }) => message) ?? [];
const pathOf = (dialect: DialectSlug, model: string, isStream = false): string | undefined =>
  provider.dialects?.[dialect]?.(model, PLACE, isStream);

describe('the address of vertex', () => {
  it.each([
    ['europe-west4', 'https://europe-west4-aiplatform.googleapis.com'],
    ['northamerica-northeast1', 'https://northamerica-northeast1-aiplatform.googleapis.com'],
    ['global', 'https://aiplatform.googleapis.com'],
    ['us', 'https://aiplatform.us.rep.googleapis.com'],
    ['eu', 'https://aiplatform.eu.rep.googleapis.com'],
  ])('is of the location %s', (google_location, origin) => {
    const url = urlOf({ ...PLACE, google_location });
    expect(url).toBe(`${origin}/v1/projects/my-project/locations/${google_location}/cachedContents`);
  });

  it.each(['https://proxy.example/vertex', 'https://proxy.example/vertex/v1', 'https://proxy.example/vertex/'])(
    'can be another one: %s',
    (base_url) => {
      expect(urlOf({ ...PLACE, base_url })).toBe(`https://proxy.example/vertex${AT}/cachedContents`);
    },
  );

  it.each<[string, object]>([
    ['google_location', { google_location: 'evil.example/x' }],
    ['google_location', { google_location: 'europe-west4.evil' }],
    ['google_location', { google_location: 'EUROPE-WEST4' }],
    ['google_location', { google_location: '' }],
    ['google_project', { google_project: '../other' }],
    ['google_project', { google_project: 'a/b' }],
    ['google_project', { google_project: '-project' }],
    ['google_project', { google_project: 'evil.example:' }],
  ])('is of no other form of %s: %j', (field, more) => {
    expect(wrongFields({ ...PLACE, ...more })).toEqual([field]);
    // A secret reference may supply it, unchecked.
    expect(() => urlOf({ ...PLACE, ...more })).toThrow(expect.objectContaining({ code: 'secret_unavailable' }));
  });

  it.each(['my-project', '123456789012', 'example.com:my-project'])('takes the project %s', (google_project) => {
    expect(wrongFields({ ...PLACE, google_project })).toEqual([]);
    expect(urlOf({ ...PLACE, google_project })).toContain(`/v1/projects/${google_project}/locations/`);
  });
});

describe('the path of a model', () => {
  it.each<[DialectSlug, string, boolean, string | undefined]>([
    ['anthropic-messages', 'claude-opus-4-6', false, '/publishers/anthropic/models/claude-opus-4-6:rawPredict'],
    [
      'anthropic-messages',
      'claude-x@20250929',
      true,
      '/publishers/anthropic/models/claude-x@20250929:streamRawPredict',
    ],
    ['anthropic-messages', 'anthropic/other', false, '/publishers/anthropic/models/other:rawPredict'],
    ['anthropic-messages', 'gemini-2.5-pro', false, undefined],
    ['gemini', 'gemini-2.5-pro', false, '/publishers/google/models/gemini-2.5-pro:generateContent'],
    ['gemini', 'google/gemini-2.5-pro', true, '/publishers/google/models/gemini-2.5-pro:streamGenerateContent'],
    ['gemini', 'publishers/google/models/g', false, '/publishers/google/models/g:generateContent'],
    ['gemini', 'a:predict?x=../y', false, '/publishers/google/models/a%3Apredict%3Fx%3D..%2Fy:generateContent'],
    ['gemini', 'meta/llama', false, undefined],
    ['gemini', 'claude-opus-4-6', false, undefined],
    ['gemini-token-count', 'gemini-2.5-pro', false, '/publishers/google/models/gemini-2.5-pro:countTokens'],
    ['openai-chat', 'meta/llama', false, '/endpoints/openapi/chat/completions'],
    ['openai-chat', 'gemini-2.5-pro', true, '/endpoints/openapi/chat/completions'],
    ['openai-chat', 'claude-opus-4-6', false, undefined],
    ['openai-chat', 'mistralai/codestral-2@001', true, '/publishers/mistralai/models/codestral-2@001:streamRawPredict'],
    ['vertex-embeddings', 'text-embedding-005', false, '/publishers/google/models/text-embedding-005:predict'],
    ['vertex-embeddings', 'multimodalembedding@001', false, undefined],
    ['vertex-embeddings', 'mistralai/text-embedding-1', false, undefined],
    ['openai-embeddings', 'text-embedding-005', false, undefined],
  ])('of %s for %s, stream %s, is %s', (dialect, model, isStream, path) => {
    expect(pathOf(dialect, model, isStream)).toBe(path);
  });
});

describe('the name of a model on price lists', () => {
  it.each([
    ['claude-opus-4-6', 'europe-west4', 'regions/claude-opus-4-6'],
    ['anthropic/claude-opus-4-6', 'us', 'regions/claude-opus-4-6'],
    ['claude-opus-4-6', 'global', undefined],
    ['gemini-2.5-pro', 'europe-west4', undefined],
  ])('of %s at %s is %s', (model, google_location, name) => {
    expect(provider.listedModel?.(model, { google_location })).toBe(name);
  });
});

describe('a request of messages', () => {
  const path = '/publishers/anthropic/models/claude-x:rawPredict';
  const adapt = (body: string, at = path): string | undefined =>
    provider.adapt?.({ path: at, body: Buffer.from(body) }, 'claude-x').body.toString();

  it.each([
    ['{}', '{"anthropic_version":"vertex-2023-10-16"}'],
    ['{"model":"m"}', '{"anthropic_version":"vertex-2023-10-16"}'],
    ['{ "a" : 1 , "model" : "m" }', '{"anthropic_version":"vertex-2023-10-16", "a" : 1 }'],
    [
      '{"messages":[{"model":"kept","messages":[1,{"anthropic_version":2}]}],"tools":[{"x":"},{"}],"n":1.50}',
      '{"anthropic_version":"vertex-2023-10-16","tools":[{"x":"},{"}],"n":1.50,"messages":[{"model":"kept","messages":[1,{"anthropic_version":2}]}]}',
    ],
    [
      '{"\\u006dodel":"m","anthropic_\\u0076ersion":"x","\\u006dessages":[],"s":"\\""}',
      '{"anthropic_version":"vertex-2023-10-16","s":"\\"","\\u006dessages":[]}',
    ],
  ])('%s becomes %s', (body, expected) => {
    expect(adapt(body)).toBe(expected);
    expect(() => JSON.parse(adapt(body) ?? '')).not.toThrow();
  });

  it('keeps its model where tokens are counted', () => {
    expect(adapt('{"model":"anthropic/claude-x","a":1}', `${path}/count_tokens`)).toBe(
      '{"anthropic_version":"vertex-2023-10-16","model":"claude-x","a":1}',
    );
  });
});

describe('the credential of vertex', () => {
  const KEY = google.serviceAccountKey();

  it.each<[string, object, string | undefined]>([
    ['the key of a service account', { google_credentials: KEY }, undefined],
    ['an external account', { google_credentials: google.externalAccount({ environment_id: 'aws1' }) }, undefined],
    ['the identity of the machine', { google_auth_type: 'metadata' }, undefined],
    ['an access token', {}, 'ya29.x'],
  ])('is %s', (_what, options, key) => {
    expect(problems({ ...PLACE, ...options }, key)).toEqual([]);
  });

  const account = (more: object): string => google.externalAccount({ file: '/x' }, more);
  it.each<[string, object, string | undefined, RegExp]>([
    ['nothing', {}, undefined, /^config\.google_credentials is required without key$/],
    ['two', { google_credentials: KEY }, 'ya29.x', /^config\.google_credentials is not used with key$/],
    ['a file of the machine', { google_auth_type: 'metadata', google_credentials: KEY }, undefined, /is not used with/],
    ['no JSON', { google_credentials: 'ya29.x' }, undefined, /expected a JSON object at the beginning$/],
    ['a user', { google_credentials: '{"type":"authorized_user"}' }, undefined, /service_account or external_account/],
    ['no PEM', { google_credentials: google.serviceAccountKey({ private_key: 'x' }) }, undefined, /at private_key$/],
    ['no email', { google_credentials: google.serviceAccountKey({ client_email: '' }) }, undefined, /client_email$/],
    ['no address', { google_credentials: account({ token_url: 'file:///x' }) }, undefined, /at token_url$/],
    ['a user in it', { google_credentials: account({ token_url: 'https://a:b@x.test' }) }, undefined, /at token_url$/],
    [
      'a program',
      { google_credentials: google.externalAccount({ executable: { command: 'rm -r /' } }) },
      undefined,
      /a file, a url or environment_id aws1 at credential_source$/,
    ],
    [
      'a header that is ours',
      { google_credentials: google.externalAccount({ url: 'https://x.test', headers: { Host: 'y' } }) },
      undefined,
      /names of headers at credential_source\.headers$/,
    ],
    [
      'a long life',
      {
        google_credentials: account({
          service_account_impersonation: { token_lifetime_seconds: 1e9 },
          service_account_impersonation_url: 'https://x.test',
        }),
      },
      undefined,
      /token_lifetime_seconds$/,
    ],
  ])('is not %s', (_what, options, key, message) => {
    const [problem, another] = problems({ ...PLACE, ...options }, key);
    expect([problem, another]).toEqual([expect.stringMatching(message), undefined]);
    // It may be a secret.
    expect(problem).not.toContain('rm -r');
  });

  it('becomes a token for each attempt, and another one where Vertex refuses it', async () => {
    const tokens = new FakeTokens();
    const signer = createVertexProvider(tokens).signer?.(keyless({ ...PLACE, google_credentials: KEY }));
    const request = { method: 'GET', url: new URL('https://x.example'), headers: { accept: 'a' } } as const;
    const signed = await signer?.sign(request, new Date());
    expect(signed?.headers).toEqual({ accept: 'a', authorization: 'Bearer token-1-x.example' });
    expect([403, 429, 500].map((status) => signer?.renew?.({ status, headers: {} }))).toEqual([false, false, false]);
    expect(signer?.renew?.({ status: 401, headers: {} })).toBe(true);
    expect(tokens.forgotten).toEqual(['token-1-x.example']);
  });

  it('is sent as it is where it is a token', () => {
    const credential = { ...keyless(PLACE), key: 'ya29.x' };
    expect(provider.signer?.(credential)).toBeUndefined();
    expect(provider.address({ method: 'GET', path: '/x' }, credential).headers['authorization']).toBe('Bearer ya29.x');
  });
});
