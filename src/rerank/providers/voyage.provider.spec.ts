import { describe, expect, it } from '@jest/globals';
import { fixture, requestWith } from './__fixtures__/requests.js';
import { voyageRerank } from './voyage.provider.js';

describe('voyageRerank', () => {
  it('sends top_n as top_k, and return_documents', () => {
    const request = requestWith({ model: 'rerank-2.5', documents: ['a', { text: 'b' }], topN: 1, truncation: false });
    expect(voyageRerank.toUpstream(request)).toEqual({
      method: 'POST',
      path: '/v1/rerank',
      body: {
        model: 'rerank-2.5',
        query: request.query,
        documents: ['a', 'b'],
        top_k: 1,
        return_documents: false,
        truncation: false,
      },
    });
  });

  it('keeps empty documents, so that indices do not shift', () => {
    const { body } = voyageRerank.toUpstream(requestWith({ documents: ['', { text: '' }, 'c'] }));
    expect(body).toMatchObject({ documents: ['', '', 'c'] });
  });

  it('reads the model and the tokens of Voyage, and no search units', () => {
    expect(voyageRerank.fromUpstream(fixture('voyage'), requestWith())).toEqual({
      scores: [
        { index: 0, relevanceScore: 0.4375 },
        { index: 1, relevanceScore: 0.421875 },
      ],
      model: 'rerank-2',
      id: undefined,
      searchUnits: undefined,
      totalTokens: 26,
    });
  });
});
