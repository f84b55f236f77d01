import { describe, expect, it } from '@jest/globals';
import { fixture, requestWith } from './__fixtures__/requests.js';
import { jinaRerank } from './jina.provider.js';

describe('jinaRerank', () => {
  it('sends strings and return_documents to Jina', () => {
    const request = requestWith({ model: 'jina-reranker-v3', documents: ['a', { text: 'b', id: 7 }], topN: 1 });
    expect(jinaRerank.toUpstream(request)).toEqual({
      method: 'POST',
      path: '/v1/rerank',
      body: {
        model: 'jina-reranker-v3',
        query: request.query,
        documents: ['a', 'b'],
        top_n: 1,
        return_documents: false,
      },
    });
  });

  it.each(['a string', { text: 'an object' }, undefined])(
    'accepts a response of Jina whose document is %j',
    (document) => {
      const answer = { results: [{ index: 0, relevance_score: 0.5, document }], usage: { total_tokens: 9 } };
      expect(jinaRerank.fromUpstream(answer, requestWith())).toMatchObject({
        scores: [{ index: 0, relevanceScore: 0.5 }],
        totalTokens: 9,
      });
    },
  );

  it('reads the model and the tokens of Jina, and no search units', () => {
    expect(jinaRerank.fromUpstream(fixture('jina'), requestWith())).toMatchObject({
      model: 'jina-reranker-v2-base-multilingual',
      searchUnits: undefined,
      totalTokens: 16,
    });
  });
});
