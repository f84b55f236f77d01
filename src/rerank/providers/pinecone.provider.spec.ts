import { describe, expect, it } from '@jest/globals';
import { fixture, requestWith } from './__fixtures__/requests.js';
import { pineconeRerank } from './pinecone.provider.js';

const documents = (count: number): string[] => Array.from({ length: count }, (_, index) => `document ${index}`);

describe('pineconeRerank', () => {
  it('wraps strings, sends objects whole, and sends return_documents', () => {
    const request = requestWith({
      model: 'bge-reranker-v2-m3',
      documents: ['a', { text: 'b', id: 7 }],
      topN: 1,
      parameters: { truncate: 'END' },
      returnDocuments: true,
    });
    expect(pineconeRerank.toUpstream(request)).toEqual({
      method: 'POST',
      path: '/rerank',
      body: {
        model: 'bge-reranker-v2-m3',
        query: request.query,
        documents: [{ text: 'a' }, { text: 'b', id: 7 }],
        top_n: 1,
        return_documents: true,
        parameters: { truncate: 'END' },
      },
    });
  });

  it('accepts objects without text when rank_fields names other fields', () => {
    const request = requestWith({ documents: [{ title: 'a' }], rankFields: ['title'] });
    expect(pineconeRerank.toUpstream(request).body).toMatchObject({
      documents: [{ title: 'a' }],
      rank_fields: ['title'],
    });
  });

  it.each([
    ['bge-reranker-v2-m3', 100],
    ['pinecone-rerank-v0', 100],
    ['cohere-rerank-3.5', 200],
  ])('refuses more documents than %s accepts', (model, maximum) => {
    const send = (count: number) => () =>
      pineconeRerank.toUpstream(requestWith({ model, documents: documents(count) }));
    expect(send(maximum)).not.toThrow();
    expect(send(maximum + 1)).toThrow(`documents must have at most ${maximum} items for this model`);
  });

  it('leaves the number of documents of unknown models to Pinecone', () => {
    const request = requestWith({ model: 'a-newer-model', documents: documents(pineconeRerank.maxDocuments) });
    expect(() => pineconeRerank.toUpstream(request)).not.toThrow();
  });

  it('reads scores and rerank units for any documents', () => {
    expect(pineconeRerank.fromUpstream(fixture('pinecone'), requestWith())).toEqual({
      scores: [
        { index: 0, relevanceScore: 0.0063143647 },
        { index: 2, relevanceScore: 0.0011513996 },
      ],
      model: 'bge-reranker-v2-m3',
      id: undefined,
      searchUnits: 1,
      totalTokens: undefined,
    });
  });
});
