import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Cohere, CohereClient, CohereClientV2, CohereError } from 'cohere-ai';
import { json, onlyCall } from './support/fake-provider.js';
import { PROVIDER_KEY, startRerankGateway, type RerankGateway } from './support/rerank-gateway.js';
import { ADMIN_KEY } from './support/test-app.js';

const REQUEST = {
  model: 'rerank-v3.5',
  query: 'capital of France',
  documents: ['Rome', { text: 'Paris is the capital of France' }, 'Bern'],
  topN: 2,
  returnDocuments: true,
};

let gateway: RerankGateway;
/** The settings that a user of the SDK changes: address, token and one header. */
let settings: { readonly token: string; readonly environment: string; readonly headers: Record<string, string> };

beforeAll(async () => {
  gateway = await startRerankGateway();
  settings = {
    token: ADMIN_KEY,
    environment: gateway.app.url,
    headers: { 'x-gateway-virtual-key': await gateway.virtualKey('cohere') },
  };
});
afterAll(() => gateway.close());
beforeEach(() => gateway.provider.forget());

async function errorOf(work: PromiseLike<unknown>): Promise<CohereError> {
  const outcome: unknown = await Promise.resolve(work).catch((error: unknown) => error);
  if (outcome instanceof CohereError) return outcome;
  throw new Error('expected an error of the SDK', { cause: outcome });
}

describe('the Cohere SDK with the address and the headers of the gateway', () => {
  it('reranks through a provider and reads typed results', async () => {
    gateway.provider.replyWith(
      json({
        id: 'c-1',
        results: [
          { index: 1, relevance_score: 0.98 },
          { index: 0, relevance_score: 0.2 },
        ],
        meta: { billed_units: { search_units: 1 } },
      }),
    );
    const answer: Cohere.RerankResponse = await new CohereClient(settings).rerank(REQUEST);
    expect(answer.id).toBe('c-1');
    expect(answer.results).toEqual([
      { index: 1, relevanceScore: 0.98, document: { text: 'Paris is the capital of France' } },
      { index: 0, relevanceScore: 0.2, document: { text: 'Rome' } },
    ]);
    expect(onlyCall(gateway.provider)).toMatchObject({
      path: '/v2/rerank',
      headers: { authorization: `Bearer ${PROVIDER_KEY}`, 'user-agent': 'tollgate' },
    });
    expect(Object.keys(onlyCall(gateway.provider).headers).filter((name) => name.startsWith('x-fern'))).toEqual([]);
  });

  it.each([{ maxChunksPerDoc: 2 }, { maxChunksPerDoc: undefined, topN: undefined, returnDocuments: undefined }])(
    'reranks with the options %j, which the SDK writes as null when they are undefined',
    async (options) => {
      const client = new CohereClient({ ...settings, headers: { 'x-gateway-virtual-key': 'local' } });
      const { results, meta } = await client.rerank({ ...REQUEST, ...options });
      expect(results[0]?.index).toBe(1);
      expect(meta).toEqual({ apiVersion: { version: '1' } });
    },
  );

  it('reranks with the built-in provider', async () => {
    const client = new CohereClient({ ...settings, headers: { 'x-gateway-virtual-key': 'local' } });
    const { results } = await client.rerank(REQUEST);
    expect(results.map((result) => [result.index, result.document?.text])).toEqual([
      [1, 'Paris is the capital of France'],
      [0, 'Rome'],
    ]);
  });

  it('accepts a base URL with a version, and another virtual key for one request', async () => {
    const client = new CohereClient({ ...settings, environment: `${gateway.app.url}/v1` });
    const { results } = await client.rerank(REQUEST, { headers: { 'x-gateway-virtual-key': 'local' } });
    expect(results).toHaveLength(2);
  });

  it.each([
    ['a wrong token', { token: 'tg_nobody' }, REQUEST, 401, { code: 'api_key_invalid' }],
    [
      'an unknown virtual key',
      { headers: { 'x-gateway-virtual-key': 'nobody' } },
      REQUEST,
      404,
      { code: 'virtual_key_not_found' },
    ],
    ['no documents', {}, { ...REQUEST, documents: [] }, 400, { code: 'validation_failed', param: 'documents' }],
    ['no model', {}, { query: 'q', documents: ['a'] }, 400, { code: 'validation_failed', param: 'model' }],
    [
      'an option that the provider does not have, when the client is strict',
      { headers: { 'x-gateway-virtual-key': 'local', 'x-gateway-strict': 'true' } },
      { ...REQUEST, maxChunksPerDoc: 2 },
      400,
      { code: 'unsupported_parameter', param: 'max_chunks_per_doc' },
    ],
  ])('reads the refusal of %s in the Cohere SDK', async (_what, changes, request, statusCode, error) => {
    const client = new CohereClient({ ...settings, ...changes });
    const thrown = await errorOf(client.rerank(request));
    expect(thrown.statusCode).toBe(statusCode);
    expect(thrown.body).toMatchObject({ error });
  });

  it("reads the provider's rate limit and its Retry-After", async () => {
    gateway.provider.replyWith(json({ message: 'slow down' }, 429, { 'retry-after': '3600' }));
    const thrown = await errorOf(new CohereClient({ ...settings, maxRetries: 0 }).rerank(REQUEST));
    expect(thrown.statusCode).toBe(429);
    expect(thrown.body).toMatchObject({ error: { code: 'provider_rate_limited', source: 'provider' } });
    expect(thrown.rawResponse?.headers.get('retry-after')).toBe('3600');
  });

  it('reranks with the Cohere v2 client, which calls /v2/rerank', async () => {
    const { query, model, topN } = REQUEST;
    gateway.provider.replyWith(json({ id: 'c-2', results: [{ index: 1, relevance_score: 0.98 }] }));
    const request = { query, model, topN, documents: ['Rome', 'Paris'], maxTokensPerDoc: 512 };
    const answer = await new CohereClientV2(settings).rerank(request);
    expect([answer.id, answer.results]).toEqual(['c-2', [{ index: 1, relevanceScore: 0.98 }]]);
    const sent = { query, model, top_n: topN, documents: ['Rome', 'Paris'], max_tokens_per_doc: 512 };
    expect(JSON.parse(onlyCall(gateway.provider).body)).toEqual(sent);
  });

  it('reads a refusal in the Cohere v2 client', async () => {
    const client = new CohereClientV2({ ...settings, token: 'tg_nobody' });
    const thrown = await errorOf(client.rerank({ model: 'm', query: 'q', documents: ['a'] }));
    expect(thrown.statusCode).toBe(401);
    expect(thrown.body).toMatchObject({ error: { code: 'api_key_invalid' } });
  });
});
