// Requests of programs that are not packages of npm, in the shape in which each of them sends it, with an address and a key as their
// only settings. Written from their sources and documentation, read 2026-11-26; not copies.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { isObject, readArray, readObject } from '../src/common/json/read.js';
import { json, onlyCall } from './support/fake-provider.js';
import { GatewayClient } from './support/gateway-client.js';
import { type RerankGateway, startRerankGateway } from './support/rerank-gateway.js';
import { jsonOf, send } from './support/send.js';

const QUERY = 'capital of France';
const DOCUMENTS = ['Rome', 'Paris is the capital of France', 'Bern'];
const COMMON = { query: QUERY, documents: DOCUMENTS };

interface Program {
  readonly name: string;
  readonly path: string;
  /** Without the model. */
  readonly body: object;
  /** Whether it reads `document.text` of each result. */
  readonly readsDocuments?: true;
  /** How many results it asks for; all by default. */
  readonly results?: number;
}

const PROGRAMS: readonly Program[] = [
  {
    name: 'LangChain (Python), CohereRerank',
    path: '/v2/rerank',
    body: { ...COMMON, top_n: 2, max_tokens_per_doc: null },
    results: 2,
  },
  {
    name: 'LangChain (Python), CohereRerank of version 1',
    path: '/v1/rerank',
    body: { ...COMMON, top_n: 2, max_chunks_per_doc: null, rank_fields: null, return_documents: null },
    results: 2,
  },
  {
    name: 'Dify, OpenAI-API-compatible',
    path: '/v1/rerank',
    body: { ...COMMON, top_n: 3 },
  },
  {
    name: 'Dify, OpenAI-API-compatible of earlier versions',
    path: '/v1/rerank',
    body: { ...COMMON, top_n: 3, return_documents: true },
    readsDocuments: true,
  },
  { name: 'Open WebUI, external reranker', path: '/v1/rerank', body: { ...COMMON, top_n: 3 } },
  { name: 'RAGFlow, OpenAI-API-compatible and Jina', path: '/v1/rerank', body: { ...COMMON, top_n: 3 } },
  {
    name: 'RAGFlow, Xinference',
    path: '/v1/rerank',
    body: { ...COMMON, return_documents: 'true', return_len: 'true' },
    readsDocuments: true,
  },
  { name: 'FastGPT', path: '/v1/rerank', body: COMMON },
  { name: 'Continue, Cohere', path: '/v1/rerank', body: COMMON },
  {
    name: 'LiteLLM, Cohere',
    path: '/v2/rerank',
    body: { ...COMMON, top_n: 2, return_documents: true, max_tokens_per_doc: 512 },
    readsDocuments: true,
    results: 2,
  },
  {
    name: 'LiteLLM, Infinity',
    path: '/rerank',
    body: { ...COMMON, top_n: 2, return_documents: true, rank_fields: null },
    readsDocuments: true,
    results: 2,
  },
];

let gateway: RerankGateway;
let cohere: string;
let selfHosted: string;
/** A key whose calls need no virtual key in their model. */
let presetKey: string;

beforeAll(async () => {
  gateway = await startRerankGateway();
  cohere = await gateway.virtualKey('cohere');
  selfHosted = await gateway.virtualKey('openai-compatible', { path: '/v1' });
  const admin = new GatewayClient(gateway.app.url);
  presetKey = (await admin.createKey({ scopes: ['completions.write'], default_virtual_key: selfHosted })).key;
});
afterAll(() => gateway.close());
beforeEach(() => {
  gateway.provider.forget();
  gateway.provider.replyWith((response, call) => {
    const { top_n = 3 } = readObject(JSON.parse(call.body), 'body');
    const results = [0.5, 0.25, 0.125].map((relevance_score, place) => ({ index: [1, 2, 0][place], relevance_score }));
    json({ id: 'r-1', results: results.slice(0, Number(top_n)) })(response, call);
  });
});

describe.each(PROGRAMS)('a rerank by $name', ({ path, body, readsDocuments, results = 3 }) => {
  it.each([
    ['a provider', () => `@${cohere}/rerank-v3.5`, 'rerank-v3.5'],
    ['a self-hosted server', () => 'BAAI/bge-reranker-v2-m3', 'BAAI/bge-reranker-v2-m3'],
  ])('reaches %s, and the answer has all that the program reads', async (_what, model, name) => {
    const answer = await send(gateway.app.url + path, {
      headers: { authorization: `Bearer ${presetKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: model(), ...body }),
    });
    expect(answer.status).toBe(200);
    const read = jsonOf(answer);
    const found = readArray(read['results'], 'results').filter((item) => isObject(item));
    expect(found.map(({ index, relevance_score }) => [index, relevance_score])).toEqual(
      [
        [1, 0.5],
        [2, 0.25],
        [0, 0.125],
      ].slice(0, results),
    );
    expect(found[0]?.['document']).toEqual(readsDocuments === true ? { text: DOCUMENTS[1] } : undefined);
    expect(read).toMatchObject({ id: 'r-1', model: name, meta: { api_version: { version: expect.any(String) } } });
    const sent = readObject(JSON.parse(onlyCall(gateway.provider).body), 'sent');
    expect(sent).toMatchObject({ model: name, ...COMMON });
    expect(Object.values(sent)).not.toContain(null);
  });
});
