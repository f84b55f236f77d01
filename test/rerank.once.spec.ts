import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { json, onlyCall } from './support/fake-provider.js';
import { startRerankGateway, VALID, type RerankGateway } from './support/rerank-gateway.js';
import { type Answer, jsonOf, refusalOf, send } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';

/** Options that only one provider has. */
const FOREIGN_OPTIONS = {
  max_tokens_per_doc: 512,
  priority: 1,
  rank_fields: ['text'],
  truncation: true,
  parameters: { truncate: 'END' },
};

/** Options of other rerank APIs. */
const OTHER_NAMES =
  'top_k max_chunks_per_doc truncate input_type overlap_tokens user return_len instruct instruction'.split(' ');

const JSON_TYPE = { 'content-type': 'application/json' };

let gateway: RerankGateway;

beforeAll(async () => {
  gateway = await startRerankGateway();
});
afterAll(() => gateway.close());
beforeEach(() => gateway.provider.forget());

describe('rerank with the built-in provider', () => {
  const documents = ['Bananas are yellow.', { text: 'Keys rotate. Rotate keys often.', id: 9 }, 'Where keys are kept.'];

  it('reranks on a fresh gateway without a provider', async () => {
    const answer = await gateway.rerank('local', { model: 'bm25', query: 'rotate keys', documents });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    const { results, ...rest } = jsonOf(answer);
    expect(rest).toEqual({
      object: 'list',
      id: expect.stringMatching(/^rerank-/),
      model: 'bm25',
      provider: 'local',
      meta: { api_version: { version: '1' } },
    });
    expect(results).toEqual([
      { index: 1, relevance_score: expect.any(Number) },
      { index: 2, relevance_score: expect.any(Number) },
      { index: 0, relevance_score: 0 },
    ]);
  });

  it('returns documents unchanged, and strings as {text}', async () => {
    const body = { model: 'bm25', query: 'rotate keys', documents, return_documents: true, top_n: 2 };
    expect(jsonOf(await gateway.rerank('local', body))['results']).toMatchObject([
      { index: 1, document: { text: 'Keys rotate. Rotate keys often.', id: 9 } },
      { index: 2, document: { text: 'Where keys are kept.' } },
    ]);
  });

  it('keeps the order of documents with equal scores', async () => {
    const body = { model: 'bm25', query: 'keys', documents: ['b', 'keys', 'a', 'keys'], top_n: 100 };
    expect(jsonOf(await gateway.rerank('local', body))['results']).toMatchObject(
      [1, 3, 0, 2].map((index) => ({ index })),
    );
  });

  it('accepts the gateway key as bearer token, and x-portkey-* headers', async () => {
    const answer = await send(`${gateway.app.url}/v1/rerank`, {
      headers: {
        authorization: `Bearer ${ADMIN_KEY}`,
        'x-portkey-virtual-key': 'local',
        'content-type': 'application/vnd.api+json; charset="UTF-8"',
      },
      body: JSON.stringify(VALID),
    });
    expect(answer.status).toBe(200);
  });
});

describe('the addresses of rerank', () => {
  const rerankAt = (path: string): Promise<Answer> =>
    send(gateway.app.url + path, {
      headers: { authorization: `Bearer ${ADMIN_KEY}`, 'x-gateway-virtual-key': 'local', ...JSON_TYPE },
      body: JSON.stringify(VALID),
    });

  it.each([
    ['/rerank', '1'],
    ['/v1/rerank', '1'],
    ['/v2/rerank', '2'],
  ])('reranks at %s, and reports version %s', async (path, version) => {
    expect(jsonOf(await rerankAt(path))).toMatchObject({ object: 'list', meta: { api_version: { version } } });
  });

  it.each([
    ['/v3/rerank', 'operation_not_offered'],
    ['/v1/rerank/x', 'operation_not_offered'],
    ['/rerank/v1', 'operation_not_offered'],
  ])('refuses a rerank at %s', async (path, code) => {
    expect(refusalOf(await rerankAt(path))).toMatchObject({ status: 404, code });
  });
});

describe('bodies of other rerank clients', () => {
  let cohere: string;

  beforeAll(async () => {
    cohere = await gateway.virtualKey('cohere');
  });
  beforeEach(() => gateway.provider.replyWith(json({ results: [{ index: 0, relevance_score: 1 }] })));

  it.each([...Object.keys(FOREIGN_OPTIONS), 'top_n', 'return_documents', ...OTHER_NAMES])(
    'reads null as absence: %s',
    async (name) => {
      const answer = await gateway.rerank(cohere, { ...VALID, [name]: null });
      expect([answer.status, answer.headers['x-gateway-warnings']]).toEqual([200, undefined]);
      expect(JSON.parse(onlyCall(gateway.provider).body)).toEqual(VALID);
    },
  );

  it('drops the options of other rerank APIs, each with a warning', async () => {
    const others = Object.fromEntries(OTHER_NAMES.filter((name) => name !== 'top_k').map((name) => [name, 1]));
    const answer = await gateway.rerank(cohere, { ...VALID, ...others });
    expect(JSON.parse(onlyCall(gateway.provider).body)).toEqual(VALID);
    for (const name of Object.keys(others)) {
      expect(answer.headers['x-gateway-warnings']).toContain(`unsupported_parameter; param=${name}; provider=cohere`);
    }
  });

  it('sends top_k as top_n', async () => {
    const answer = await gateway.rerank(cohere, { ...VALID, top_k: 1 });
    expect([answer.status, answer.headers['x-gateway-warnings']]).toEqual([200, undefined]);
    expect(JSON.parse(onlyCall(gateway.provider).body)).toEqual({ ...VALID, top_n: 1 });
    expect(jsonOf(answer)).toMatchObject({ data: [{ index: 0, relevance_score: 1 }] });
  });

  it.each(OTHER_NAMES)('refuses a strict request with an option of another rerank API: %s', async (param) => {
    const headers = { 'x-gateway-strict': 'true' };
    const answer = await gateway.rerank(cohere, { ...VALID, [param]: 1 }, { headers });
    expect(refusalOf(answer)).toEqual({ status: 400, code: 'unsupported_parameter', param, source: 'gateway' });
    expect(gateway.provider.calls).toEqual([]);
  });
});

describe('the virtual key of a rerank request', () => {
  it.each([
    ['is present', {}, { status: 404, code: 'model_not_found', param: 'model' }],
    ['is not empty', { 'x-gateway-virtual-key': '' }, { status: 404, code: 'model_not_found', param: 'model' }],
    ['exists', { 'x-gateway-virtual-key': 'nobody' }, { status: 404, code: 'virtual_key_not_found' }],
    ['is a slug', { 'x-gateway-virtual-key': "'; --" }, { status: 404, code: 'virtual_key_not_found' }],
    [
      'in x-gateway-* exists, when both headers are sent',
      { 'x-gateway-virtual-key': 'nobody', 'x-portkey-virtual-key': 'local' },
      { status: 404, code: 'virtual_key_not_found' },
    ],
  ])('refuses a rerank unless its virtual key %s', async (_rule, headers, refusal) => {
    const answer = await send(`${gateway.app.url}/v1/rerank`, {
      headers: { 'x-gateway-api-key': ADMIN_KEY, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(VALID),
    });
    expect(refusalOf(answer)).toEqual({ param: 'x-gateway-virtual-key', source: 'gateway', ...refusal });
  });

  it('checks the gateway key before the virtual key', async () => {
    const answer = await send(`${gateway.app.url}/v1/rerank`, {
      headers: { 'x-gateway-virtual-key': 'local', 'content-type': 'application/json' },
      body: JSON.stringify(VALID),
    });
    expect(refusalOf(answer)).toEqual({ status: 401, code: 'api_key_invalid', param: null, source: 'gateway' });
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="tollgate"');
  });

  it.each(['openai', 'azure-openai'])('refuses a virtual key of %s, which cannot rerank', async (slug) => {
    const answer = await gateway.rerank(await gateway.virtualKey(slug), VALID);
    expect(refusalOf(answer)).toEqual({
      status: 400,
      code: 'provider_not_supported',
      param: null,
      source: 'gateway',
    });
    expect(gateway.provider.calls).toEqual([]);
  });
});

describe('options that the provider does not have', () => {
  let jina: string;

  beforeAll(async () => {
    jina = await gateway.virtualKey('jina');
  });
  beforeEach(() => gateway.provider.replyWith(json({ results: [{ index: 0, relevance_score: 1 }] })));

  it('drops unsupported options, each with a warning', async () => {
    const answer = await gateway.rerank(jina, { ...VALID, ...FOREIGN_OPTIONS });
    expect(answer.status).toBe(200);
    expect(answer.headers['x-gateway-warnings']).toBe(
      Object.keys(FOREIGN_OPTIONS)
        .map((option) => `unsupported_parameter; param=${option}; provider=jina`)
        .join(', '),
    );
    for (const option of Object.keys(FOREIGN_OPTIONS)) {
      expect(JSON.parse(onlyCall(gateway.provider).body)).not.toHaveProperty(option);
    }
  });

  it.each(Object.entries(FOREIGN_OPTIONS))(
    'refuses unsupported options of a strict request: %s',
    async (param, value) => {
      const answer = await gateway.rerank(
        jina,
        { ...VALID, [param]: value },
        { headers: { 'x-gateway-strict': 'true' } },
      );
      expect(refusalOf(answer)).toEqual({ status: 400, code: 'unsupported_parameter', param, source: 'gateway' });
      expect(answer.headers['x-gateway-warnings']).toBeUndefined();
      expect(gateway.provider.calls).toEqual([]);
    },
  );

  it.each(['TRUE', 'True'])('refuses unsupported options with x-gateway-strict: %s', async (text) => {
    const answer = await gateway.rerank(
      jina,
      { ...VALID, ...FOREIGN_OPTIONS },
      { headers: { 'x-gateway-strict': text } },
    );
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'unsupported_parameter' });
  });

  it.each(['1', 'yes', 'true, true'])('refuses an invalid x-gateway-strict: %s', async (text) => {
    const answer = await gateway.rerank(jina, VALID, { headers: { 'x-gateway-strict': text } });
    const error = { status: 400, code: 'validation_failed', param: 'x-gateway-strict', source: 'gateway' };
    expect(refusalOf(answer)).toEqual(error);
    expect(gateway.provider.calls).toEqual([]);
  });

  it('names all unsupported options in a strict refusal', async () => {
    const headers = { 'x-portkey-strict': 'true' };
    const answer = await gateway.rerank(jina, { ...VALID, ...FOREIGN_OPTIONS }, { headers });
    expect(jsonOf(answer)['error']).toMatchObject({
      details: Object.keys(FOREIGN_OPTIONS).map((param) => ({ param })),
    });
  });

  it('accepts a strict request without unsupported options', async () => {
    const answer = await gateway.rerank(jina, VALID, { headers: { 'x-gateway-strict': 'true' } });
    expect(answer.status).toBe(200);
    expect(answer.headers['x-gateway-warnings']).toBeUndefined();
  });
});
