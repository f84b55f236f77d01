import { describe, expect, it } from '@jest/globals';
import { fixture, requestWith } from './__fixtures__/requests.js';
import { cohereRerank } from './cohere.provider.js';

describe('cohereRerank', () => {
  it('sends the text of objects and the options of Cohere', () => {
    const request = requestWith({
      model: 'rerank-v4.0-pro',
      documents: ['a', { text: 'b', id: 7 }],
      topN: 1,
      maxTokensPerDoc: 512,
      priority: 3,
    });
    expect(cohereRerank.toUpstream(request)).toEqual({
      method: 'POST',
      path: '/v2/rerank',
      body: {
        model: 'rerank-v4.0-pro',
        query: request.query,
        documents: ['a', 'b'],
        top_n: 1,
        max_tokens_per_doc: 512,
        priority: 3,
      },
    });
  });

  it('omits return_documents, which version 2 does not support', () => {
    const { body } = cohereRerank.toUpstream(requestWith({ returnDocuments: true }));
    expect(body).not.toHaveProperty('return_documents');
  });

  it('reads the id and the search units of Cohere', () => {
    expect(cohereRerank.fromUpstream(fixture('cohere'), requestWith())).toEqual({
      scores: [
        { index: 3, relevanceScore: 0.999071 },
        { index: 4, relevanceScore: 0.7867867 },
        { index: 0, relevanceScore: 0.32713068 },
      ],
      model: undefined,
      id: '07734bd2-2473-4f07-94e1-0d9f0e6843cf',
      searchUnits: 1,
      totalTokens: undefined,
    });
  });
});
