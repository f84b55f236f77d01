import assert from 'node:assert/strict';
import { createCohere } from '@ai-sdk/cohere';
import { CohereRerank as LangChainRerank } from '@langchain/cohere';
import { Document as LangChainDocument } from '@langchain/core/documents';
import { CohereRerank as LlamaIndexRerank } from '@llamaindex/cohere';
import { TextNode } from '@llamaindex/core/schema';
import { rerank } from 'ai';
import * as cohere8 from 'cohere-ai';
import * as cohere7 from 'cohere-ai-7';
import { VoyageAIClient } from 'voyageai';

const MODEL = '@cohere/rerank-v3.5';
const UNBILLED = '@openai-compatible/bge-reranker';
const QUERY = 'capital of France';
const DOCUMENTS = ['Rome', 'Bern', 'Paris'];

/** The provider received its own name of the model, and texts. */
function assertSent({ sent }, more = {}) {
  const { body, headers } = sent();
  assert.deepEqual(body, { model: 'rerank-v3.5', query: QUERY, documents: DOCUMENTS, ...more });
  assert.equal(headers.authorization, 'Bearer provider-key');
}

function cohereCases(name, { CohereClient, CohereClientV2 }) {
  const request = { model: MODEL, query: QUERY, documents: DOCUMENTS, topN: 2 };
  const best = { index: 2, relevanceScore: 0.75 };
  return [
    {
      title: `${name}: CohereClient reranks, and returns documents`,
      run: async (context) => {
        const client = new CohereClient({ token: context.key, environment: context.url });
        const options = { ...request, returnDocuments: true, maxChunksPerDoc: undefined };
        const { results, meta } = await client.rerank(options);
        assert.deepEqual(results[0], { ...best, document: { text: 'Paris' } });
        assert.equal(meta.billedUnits.searchUnits, 1);
        assertSent(context, { top_n: 2 });
      },
    },
    {
      title: `${name}: CohereClientV2 reranks`,
      run: async (context) => {
        const client = new CohereClientV2({ token: context.key, environment: context.url });
        const { results } = await client.rerank({ ...request, maxTokensPerDoc: 512 });
        assert.deepEqual([results.length, results[0]], [2, best]);
        assertSent(context, { top_n: 2, max_tokens_per_doc: 512 });
      },
    },
    {
      title: `${name}: CohereClient reranks where nothing is billed`,
      run: async ({ url, key }) => {
        const client = new CohereClient({ token: key, environment: url });
        const { results, meta } = await client.rerank({ ...request, model: UNBILLED });
        assert.deepEqual([results[0], meta.apiVersion.version, meta.billedUnits], [best, '1', undefined]);
      },
    },
    {
      title: `${name}: an error of the gateway is the client's own`,
      run: async ({ url, key }) => {
        const client = new CohereClientV2({ token: key, environment: url });
        const call = client.rerank({ ...request, model: '@nowhere/m' });
        await assert.rejects(call, (error) => error.statusCode === 404 && error.body.error.code === 'model_not_found');
      },
    },
  ];
}

export const RERANK_CLIENTS = [
  ...cohereCases('cohere-ai 7', cohere7),
  ...cohereCases('cohere-ai 8', cohere8),
  {
    title: '@langchain/cohere: CohereRerank compresses documents',
    run: async (context) => {
      const client = new cohere8.CohereClient({ token: context.key, environment: context.url });
      const reranker = new LangChainRerank({ client, model: MODEL, topN: 2 });
      const documents = DOCUMENTS.map((pageContent) => new LangChainDocument({ pageContent }));
      const [best, ...others] = await reranker.compressDocuments(documents, QUERY);
      assert.deepEqual([best.pageContent, best.metadata.relevanceScore, others.length], ['Paris', 0.75, 1]);
      assertSent(context, { top_n: 2 });
    },
  },
  {
    title: 'ai with @ai-sdk/cohere: rerank() where nothing is billed',
    run: async ({ url, key }) => {
      const model = createCohere({ apiKey: key, baseURL: `${url}/v2` }).reranking(UNBILLED);
      const { ranking } = await rerank({ model, query: QUERY, documents: DOCUMENTS, topN: 2, maxRetries: 0 });
      assert.deepEqual(ranking[0], { originalIndex: 2, score: 0.75, document: 'Paris' });
    },
  },
  {
    title: 'ai with @ai-sdk/cohere: rerank()',
    run: async (context) => {
      const cohere = createCohere({ apiKey: context.key, baseURL: `${context.url}/v2` });
      const model = cohere.reranking(MODEL);
      const { ranking } = await rerank({ model, query: QUERY, documents: DOCUMENTS, topN: 2, maxRetries: 0 });
      assert.deepEqual(ranking[0], { originalIndex: 2, score: 0.75, document: 'Paris' });
      assertSent(context, { top_n: 2 });
    },
  },
  {
    title: '@llamaindex/cohere: CohereRerank reorders nodes',
    run: async (context) => {
      const { key: apiKey, url: baseUrl } = context;
      const reranker = new LlamaIndexRerank({ apiKey, baseUrl, model: MODEL, topN: 2 });
      const nodes = DOCUMENTS.map((text) => ({ node: new TextNode({ text }), score: 0 }));
      const [best] = await reranker.postprocessNodes(nodes, QUERY);
      assert.deepEqual([best.node.text, best.score], ['Paris', 0.75]);
      assertSent(context, { top_n: 2 });
    },
  },
  {
    title: 'voyageai: rerank()',
    run: async ({ url, key, sent }) => {
      const client = new VoyageAIClient({ apiKey: key, environment: `${url}/v1` });
      const options = {
        model: '@voyage/rerank-2.5',
        query: QUERY,
        documents: DOCUMENTS,
        topK: 2,
        returnDocuments: true,
      };
      const { data, usage } = await client.rerank(options);
      assert.deepEqual(data[0], { index: 2, relevanceScore: 0.75, document: 'Paris' });
      assert.equal(usage.totalTokens, 12);
      assert.equal(sent().body.model, 'rerank-2.5');
    },
  },
];
