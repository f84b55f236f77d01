import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from '../../../test/support/any-character.js';
import { RERANK_PROVIDERS } from '../rerank-provider.registry.js';
import type { RerankDocument, RerankRequest } from '../rerank.types.js';
import { azureAiRerank } from './azure-ai.provider.js';
import { bedrockRerank } from './bedrock.provider.js';
import { cohereRerank } from './cohere.provider.js';
import { jinaRerank } from './jina.provider.js';
import { localRerank } from './local.provider.js';
import { pineconeRerank } from './pinecone.provider.js';
import { voyageRerank } from './voyage.provider.js';
import { fixture, requestWith } from './__fixtures__/requests.js';

const anyDocument: fc.Arbitrary<RerankDocument> = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 3_000 }),
  fc.record({ text: fc.string({ unit: anyCharacter }) }),
  fc.dictionary(fc.string(), fc.jsonValue()),
);
const anyRequest: fc.Arbitrary<RerankRequest> = fc
  .record({
    model: fc.constantFrom(
      'a-model',
      'rerank-v3.5',
      'rerank-v5.0-fast',
      'rerank-2.5',
      'rerank-2-lite',
      'bge-reranker-v2-m3',
    ),
    query: fc.string({ unit: anyCharacter, maxLength: 3_000 }),
    documents: fc.array(anyDocument, { minLength: 1, maxLength: 120 }),
    rankFields: fc.option(fc.array(fc.string()), { nil: undefined }),
    maxTokensPerDoc: fc.option(fc.integer({ min: 1, max: 5_000 }), { nil: undefined }),
  })
  .map((fields) => requestWith(fields));

describe.each(RERANK_PROVIDERS.map((provider) => ({ slug: provider.slug, provider })))(
  'the estimate of $slug',
  ({ provider }) => {
    it('estimates every request in whole numbers', () => {
      fc.assert(
        fc.property(anyRequest, (request) => {
          const { unit, counts } = provider.estimate(request);
          expect(Object.values(counts).every(Number.isSafeInteger)).toBe(true);
          expect(counts.input).toBeGreaterThan(0);
          expect((counts.search_unit ?? 0) > 0).toBe(unit === 'search_unit');
        }),
        { numRuns: 50 },
      );
    });

    it('estimates at least the usage of the published response', () => {
      if (provider.kind !== 'remote') return;
      const request = requestWith();
      const { searchUnits = 0, totalTokens = 0 } = provider.fromUpstream(fixture(provider.slug), request);
      const estimate = provider.estimate(request);
      expect(estimate.counts.search_unit ?? 0).toBeGreaterThanOrEqual(searchUnits);
      expect(estimate.counts.input).toBeGreaterThanOrEqual(totalTokens);
      expect(searchUnits > 0).toBe(estimate.unit === 'search_unit');
    });
  },
);

describe('estimates of the providers', () => {
  const documents = Array.from({ length: 101 }, () => 'a document');
  const long = requestWith({ documents: Array.from({ length: 50 }, () => 'x'.repeat(30_000)) });

  it.each([cohereRerank, azureAiRerank, bedrockRerank])(
    'estimates one unit per hundred documents for $slug',
    (provider) => {
      expect(provider.estimate(requestWith({ documents }))).toMatchObject({ counts: { search_unit: 2 } });
    },
  );

  it('cuts documents for Cohere before it counts them', () => {
    // 4,096 tokens in pieces of 500 less the query's 30: 9 for each document.
    expect(cohereRerank.estimate(long)).toMatchObject({ counts: { search_unit: 5 } });
    expect(cohereRerank.estimate({ ...long, maxTokensPerDoc: 400 })).toMatchObject({
      counts: { search_unit: 1 },
    });
    expect(azureAiRerank.estimate(long).counts.search_unit).toBe(11);
  });

  it('estimates generation 5 of Cohere by token', () => {
    expect(cohereRerank.estimate(requestWith({ model: 'rerank-v5.0-pro' }))).toMatchObject({ unit: 'input' });
    const answer = { results: [{ index: 0, relevance_score: 1 }], meta: { billed_units: { input_tokens: 41 } } };
    expect(cohereRerank.fromUpstream(answer, requestWith())).toMatchObject({ searchUnits: undefined, totalTokens: 41 });
  });

  it.each([
    ['rerank-v5.0-pro', { search_units: 0, input_tokens: 55 }, undefined, 55],
    ['rerank-v5.0-pro', { search_units: 1, input_tokens: 55 }, undefined, 55],
    ['our-deployment', { search_units: 0, input_tokens: 55 }, undefined, 55],
    ['our-deployment', { search_units: 2, input_tokens: 55 }, 2, undefined],
    ['rerank-v3.5', { search_units: 2, input_tokens: 55 }, 2, undefined],
    ['rerank-v3.5', { search_units: 0 }, 0, undefined],
    ['rerank-v5.0-pro', { search_units: 1 }, 1, undefined],
  ])('bills Cohere’s model %s with %j in one unit only', (model, billedUnits, searchUnits, totalTokens) => {
    const answer = { results: [{ index: 0, relevance_score: 1 }], meta: { billed_units: billedUnits } };
    expect(cohereRerank.fromUpstream(answer, requestWith({ model }))).toMatchObject({ searchUnits, totalTokens });
  });

  it('estimates Pinecone’s own models per request, and Cohere’s per chunk', () => {
    expect(pineconeRerank.estimate({ ...long, model: 'bge-reranker-v2-m3' })).toMatchObject({
      counts: { search_unit: 1 },
    });
    expect(pineconeRerank.estimate({ ...long, model: 'cohere-rerank-3.5' }).counts.search_unit).toBe(11);
  });

  it('uses the estimate for Bedrock, which reports no usage', () => {
    const answer = { results: [{ index: 0, relevanceScore: 1 }] };
    expect(bedrockRerank.fromUpstream(answer, long).searchUnits).toBe(bedrockRerank.estimate(long).counts.search_unit);
  });

  it('applies Voyage’s limits of queries, pairs and whole requests', () => {
    const tokensOf = (model: string) => voyageRerank.estimate({ ...long, model }).counts.input;
    expect([tokensOf('rerank-2-lite'), tokensOf('rerank-2.5')]).toEqual([50 * 8_000, 50 * (10_016 + 30)]);
    const many = Array.from({ length: 900 }, () => 'x'.repeat(3_000));
    expect(voyageRerank.estimate(requestWith({ model: 'rerank-2.5', documents: many })).counts.input).toBe(600_000);
  });

  it('estimates tokens for Jina, and nothing for the local reranker', () => {
    expect(jinaRerank.estimate(requestWith())).toMatchObject({ unit: 'input' });
    expect(localRerank.estimate(requestWith())).toMatchObject({ unit: 'request' });
  });
});
