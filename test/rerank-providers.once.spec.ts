import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { json, onlyCall } from './support/fake-provider.js';
import {
  BEDROCK_MODEL,
  PROVIDER_KEY,
  startRerankGateway,
  type RerankGateway,
  VALID,
} from './support/rerank-gateway.js';
import { jsonOf, refusalOf } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';

const QUERY = 'capital of France';
const PARIS = { text: 'Paris', id: 7, tags: ['fr', null] };
const TEXTS = ['Rome', 'Paris', 'Bern'];
const UUID = /^rerank-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const BEARER = { authorization: `Bearer ${PROVIDER_KEY}` };
/** Scores in no order: Paris is best, Bern is worst. */
const SCORES = [
  { index: 2, relevance_score: 0.1 },
  { index: 0, relevance_score: 0.5 },
  { index: 1, relevance_score: 0.9 },
];

interface Case {
  readonly slug: string;
  readonly model: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: object;
  readonly answer: object;
  /** The fields of the gateway's answer that depend on the provider. */
  readonly expected: { readonly id: unknown; readonly model: string; readonly usage: object };
}

const CASES: readonly Case[] = [
  {
    slug: 'cohere',
    model: 'rerank-v3.5',
    path: '/v2/rerank',
    headers: BEARER,
    body: { model: 'rerank-v3.5', query: QUERY, documents: TEXTS, top_n: 3 },
    answer: { id: 'c-1', results: SCORES, meta: { billed_units: { search_units: 1 } } },
    expected: { id: 'c-1', model: 'rerank-v3.5', usage: { search_units: 1 } },
  },
  {
    slug: 'voyage',
    model: 'rerank-2.5',
    path: '/v1/rerank',
    headers: BEARER,
    body: { model: 'rerank-2.5', query: QUERY, documents: TEXTS, top_k: 3, return_documents: true },
    answer: { object: 'list', data: SCORES, model: 'rerank-2.5-0815', usage: { total_tokens: 26 } },
    expected: {
      id: expect.stringMatching(UUID),
      model: 'rerank-2.5-0815',
      usage: { prompt_tokens: 26, total_tokens: 26 },
    },
  },
  {
    slug: 'jina',
    model: 'jina-reranker-v3',
    path: '/v1/rerank',
    headers: BEARER,
    body: { model: 'jina-reranker-v3', query: QUERY, documents: TEXTS, top_n: 3, return_documents: true },
    answer: { model: 'jina-reranker-v3', results: SCORES, usage: { total_tokens: 15 } },
    expected: {
      id: expect.stringMatching(UUID),
      model: 'jina-reranker-v3',
      usage: { prompt_tokens: 15, total_tokens: 15 },
    },
  },
  {
    slug: 'pinecone',
    model: 'bge-reranker-v2-m3',
    path: '/rerank',
    headers: { 'api-key': PROVIDER_KEY, 'x-pinecone-api-version': '2026-04' },
    body: {
      model: 'bge-reranker-v2-m3',
      query: QUERY,
      documents: [{ text: 'Rome' }, PARIS, { text: 'Bern' }],
      top_n: 3,
      return_documents: true,
    },
    answer: {
      model: 'bge-reranker-v2-m3',
      data: SCORES.map(({ index, relevance_score }) => ({ index, score: relevance_score })),
      usage: { rerank_units: 1 },
    },
    expected: { id: expect.stringMatching(UUID), model: 'bge-reranker-v2-m3', usage: { search_units: 1 } },
  },
  {
    slug: 'bedrock',
    model: BEDROCK_MODEL,
    path: '/rerank',
    headers: { 'x-amz-date': expect.stringMatching(/^\d{8}T\d{6}Z$/) },
    body: {
      queries: [{ type: 'TEXT', textQuery: { text: QUERY } }],
      sources: TEXTS.map((text) => ({
        type: 'INLINE',
        inlineDocumentSource: { type: 'TEXT', textDocument: { text } },
      })),
      rerankingConfiguration: {
        type: 'BEDROCK_RERANKING_MODEL',
        bedrockRerankingConfiguration: { modelConfiguration: { modelArn: BEDROCK_MODEL }, numberOfResults: 3 },
      },
    },
    answer: { results: SCORES.map(({ index, relevance_score }) => ({ index, relevanceScore: relevance_score })) },
    expected: { id: expect.stringMatching(UUID), model: BEDROCK_MODEL, usage: { search_units: 1 } },
  },
  {
    slug: 'azure-ai',
    model: 'cohere.Cohere-rerank-v4.0-pro',
    path: '/v2/rerank',
    headers: BEARER,
    body: { model: 'Cohere-rerank-v4.0-pro', query: QUERY, documents: TEXTS, top_n: 3 },
    answer: { id: 'a-1', results: SCORES, meta: { billed_units: { search_units: 1 } } },
    expected: { id: 'a-1', model: 'cohere.Cohere-rerank-v4.0-pro', usage: { search_units: 1 } },
  },
];

let gateway: RerankGateway;

beforeAll(async () => {
  gateway = await startRerankGateway();
});
afterAll(() => gateway.close());
beforeEach(() => gateway.provider.forget());

describe.each(CASES)('rerank through $slug', ({ slug, model, path, headers, body, answer, expected }) => {
  const request = { model, query: QUERY, documents: ['Rome', PARIS, 'Bern'], top_n: 5, return_documents: true };
  let virtualKey: string;

  beforeAll(async () => {
    virtualKey = await gateway.virtualKey(slug);
  });

  it("sends the provider's own protocol with top_n limited to the number of documents", async () => {
    gateway.provider.replyWith(json(answer));
    await gateway.rerank(virtualKey, request);
    const call = onlyCall(gateway.provider);
    expect([call.method, call.path]).toEqual(['POST', path]);
    expect(call.headers).toMatchObject({ 'content-type': 'application/json', accept: 'application/json', ...headers });
    expect(JSON.parse(call.body)).toEqual(body);
  });

  it('returns the best result first, with documents from the request', async () => {
    gateway.provider.replyWith(json(answer));
    const answered = await gateway.rerank(virtualKey, request);
    expect(answered.status).toBe(200);
    expect(jsonOf(answered)).toEqual({
      object: 'list',
      provider: slug,
      meta: { api_version: { version: '1' }, billed_units: expect.any(Object) },
      results: [
        { index: 1, relevance_score: 0.9, document: PARIS },
        { index: 0, relevance_score: 0.5, document: { text: 'Rome' } },
        { index: 2, relevance_score: 0.1, document: { text: 'Bern' } },
      ],
      ...expected,
    });
  });

  it('returns documents only on request, and at most top_n results', async () => {
    gateway.provider.replyWith(json(answer));
    const { return_documents: _, ...plain } = request;
    const answered = jsonOf(await gateway.rerank(virtualKey, { ...plain, top_n: 1 }));
    expect(answered['results']).toEqual([{ index: 1, relevance_score: 0.9 }]);
  });

  it("does not forward the client's own headers and credentials", async () => {
    gateway.provider.replyWith(json(answer));
    const own = {
      authorization: 'Bearer client-token-1d9c',
      cookie: 'session=client-cookie-77ab',
      'x-user-claims': '{"sub":"forged"}',
      'x-custom': 'client-header-52e0',
      'x-forwarded-for': '203.0.113.9',
      'user-agent': 'client-agent/1.0',
    };
    await gateway.rerank(virtualKey, request, { headers: own });
    const sent = JSON.stringify(onlyCall(gateway.provider).headers);
    for (const value of [ADMIN_KEY, ...Object.values(own)]) expect(sent).not.toContain(value.replaceAll('"', '\\"'));
    expect(
      Object.keys(onlyCall(gateway.provider).headers).filter((name) => /gateway|portkey|forwarded|cookie/.test(name)),
    ).toEqual([]);
  });

  it("returns 502 for an answer that is not in the provider's format", async () => {
    gateway.provider.replyWith(json({ scores: SCORES }));
    expect(refusalOf(await gateway.rerank(virtualKey, request))).toEqual({
      status: 502,
      code: 'provider_invalid_response',
      param: null,
      source: 'provider',
    });
  });
});

describe('the id of a rerank answer', () => {
  it.each([[{}], [{ id: '' }], [{ id: null }], [{ id: 7 }]])(
    'generates the id of the answer when the provider sends %j',
    async (sent) => {
      gateway.provider.replyWith(json({ ...sent, results: [] }));
      const answered = jsonOf(await gateway.rerank(await gateway.virtualKey('cohere'), VALID));
      expect(answered['id']).toMatch(UUID);
    },
  );
});

describe('rerank options of one provider', () => {
  it.each([
    ['cohere', { max_tokens_per_doc: 512, priority: 3 }],
    ['voyage', { truncation: false }],
    ['pinecone', { rank_fields: ['title'], parameters: { truncate: 'END' } }],
  ])('sends provider options to %s unchanged', async (slug, options) => {
    gateway.provider.replyWith(json({ results: [], data: [] }));
    const documents = slug === 'pinecone' ? [{ title: 'Paris' }] : ['Paris'];
    const answered = await gateway.rerank(await gateway.virtualKey(slug), {
      model: 'm',
      query: 'q',
      documents,
      ...options,
    });
    expect(answered.status).toBe(200);
    expect(answered.headers['x-gateway-warnings']).toBeUndefined();
    expect(JSON.parse(onlyCall(gateway.provider).body)).toMatchObject(options);
  });

  it('refuses documents without text for providers that rank only text', async () => {
    const body = { model: 'm', query: 'q', documents: [{ title: 'Paris' }], rank_fields: ['title'] };
    expect(refusalOf(await gateway.rerank(await gateway.virtualKey('voyage'), body))).toMatchObject({
      status: 400,
      code: 'validation_failed',
      param: 'documents.0.text',
    });
    expect(gateway.provider.calls).toEqual([]);
  });
});
