import { describe, expect, it } from '@jest/globals';
import { UnexpectedShapeError } from '../../common/json/read.js';
import { fixture, requestWith } from './__fixtures__/requests.js';
import { openaiCompatibleRerank } from './openai-compatible.provider.js';

const foreign = { values: { truncate: true, instruction: 'find', top_k: 9 }, understood: [] };
const request = requestWith({ documents: ['a', { text: 'b', id: 7 }], topN: 1, maxTokensPerDoc: 512, foreign });
const read = (answer: unknown) => openaiCompatibleRerank.fromUpstream(answer, requestWith());

describe('openaiCompatibleRerank', () => {
  it('sends strings and the options of such servers', () => {
    expect(openaiCompatibleRerank.toUpstream(request)).toEqual({
      method: 'POST',
      path: '/rerank',
      body: {
        model: 'a-model',
        query: request.query,
        documents: ['a', 'b'],
        top_n: 1,
        max_tokens_per_doc: 512,
        truncate: true,
        instruction: 'find',
      },
    });
  });

  it('sends texts without a model to Text Embeddings Inference', () => {
    expect(openaiCompatibleRerank.toUpstream(request, { rerank_format: 'tei' }).body).toEqual({
      query: request.query,
      texts: ['a', 'b'],
      max_tokens_per_doc: 512,
      truncate: true,
      instruction: 'find',
    });
  });

  it('reads the answer of Text Embeddings Inference, which is a list', () => {
    expect(read(fixture('tei'))).toEqual({
      scores: [
        { index: 3, relevanceScore: 0.98711914 },
        { index: 0, relevanceScore: 0.012403101 },
        { index: 5, relevanceScore: 0.000038 },
      ],
      model: undefined,
      id: undefined,
      searchUnits: undefined,
      totalTokens: undefined,
    });
  });

  it.each([
    { results: [{ index: 1, relevance_score: 2 }] },
    { results: [{ index: 1, score: 2, document: 'text' }] },
    { data: [{ index: 1, relevance_score: 2, document: { text: 'text' } }] },
    { data: [{ index: 1, score: 2 }], results: undefined },
    { data: [{ index: 1, score: 2, relevance_score: null }], results: null },
    [{ index: 1, relevance_score: 2, text: 'text' }],
    [{ index: 1, score: 2 }],
  ])('reads the form %j', (answer) => {
    expect(read(answer).scores).toEqual([{ index: 1, relevanceScore: 2 }]);
  });

  it.each([
    [{ usage: { total_tokens: 5 } }, 5],
    [{ meta: { tokens: { input_tokens: 6 } } }, 6],
    [{ usage: { prompt_tokens: 5 } }, undefined],
    [{}, undefined],
  ])('reads the tokens of %j', (more, expected) => {
    expect(read({ results: [], ...more }).totalTokens).toBe(expected);
  });

  it.each([
    [[{ index: 1, score: 2 }, { index: 0 }]],
    [[{ index: 1, score: '2' }]],
    [[{ index: 9, score: 2 }]],
    [[7]],
    [{ scores: [] }],
    [{ results: null }],
  ])('refuses the form %j', (answer) => {
    expect(() => read(answer)).toThrow(UnexpectedShapeError);
  });
});
