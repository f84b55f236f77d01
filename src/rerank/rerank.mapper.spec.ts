import { describe, expect, it } from '@jest/globals';
import { stringifyLongNumbers } from '../common/json/numbers.js';
import type { CreateRerankDto } from './dto/create-rerank.dto.js';
import { toRerankRequest, toRerankResponse } from './rerank.mapper.js';
import type { RankedRerank } from './rerank.types.js';

function requestOf(json: string) {
  const dto: CreateRerankDto = JSON.parse(json);
  return toRerankRequest(dto, Buffer.from(json));
}

describe('toRerankRequest', () => {
  it('keeps exact whole numbers beyond 2^53 in a copy of the documents', () => {
    const [documents, parameters] = ['[{"v":12345678901234567,"text":"a"},"b"]', '{"seed":12345678901234567}'];
    const { exact, ...request } = requestOf(
      `{"model":"m","query":"q","documents":${documents},"parameters":${parameters}}`,
    );
    expect(stringifyLongNumbers(exact)).toBe(`{"documents":${documents},"parameters":${parameters}}`);
    expect(request).toMatchObject({ documents: JSON.parse(documents), parameters: JSON.parse(parameters) });
  });

  it.each(['["12345678901234567"]', '[{"text":"a","v":0.5}]'])('makes no exact copy of %s', (documents) => {
    expect(requestOf(`{"model":"m","query":"q","documents":${documents}}`).exact).toBeUndefined();
  });
});

describe('toRerankResponse', () => {
  const ranked: RankedRerank = {
    request: requestOf('{"model":"m \\"1\\"","query":"q","documents":["a \\"é\\"\\n",{"text":"b","page":7}]}'),
    outcome: { scores: [], model: undefined, id: undefined, searchUnits: undefined, totalTokens: undefined },
    id: 'r-1',
    provider: 'cohere',
    results: [
      { index: 1, relevanceScore: 0.98 },
      { index: 0, relevanceScore: 1e-7 },
    ],
  };
  const results = [
    { index: 1, relevance_score: 0.98 },
    { index: 0, relevance_score: 1e-7 },
  ];
  const answerTo = (changes: Partial<RankedRerank>): unknown =>
    JSON.parse(toRerankResponse({ ...ranked, ...changes }).text);

  it('writes the documented fields, without unknown values', () => {
    expect(answerTo({})).toStrictEqual({ object: 'list', id: 'r-1', results, model: 'm "1"', provider: 'cohere' });
  });

  it.each([
    [{ searchUnits: 2 }, { search_units: 2 }],
    [{ totalTokens: 30 }, { total_tokens: 30 }],
    [
      { searchUnits: 0, totalTokens: 30 },
      { search_units: 0, total_tokens: 30 },
    ],
  ])('writes the usage of %j', (used, usage) => {
    expect(answerTo({ outcome: { ...ranked.outcome, ...used, model: 'used' } })).toMatchObject({
      usage,
      model: 'used',
    });
  });

  it('writes the documents of the request with return_documents', () => {
    const request = { ...ranked.request, returnDocuments: true };
    expect(answerTo({ request })).toMatchObject({
      results: [
        { ...results[0], document: { text: 'b', page: 7 } },
        { ...results[1], document: { text: 'a "é"\n' } },
      ],
    });
  });

  it('writes numbers beyond 2^53 in documents as they were sent', () => {
    const json =
      '{"model":"m","query":"q","documents":["a",{"text":"b","id":12345678901234567}],"return_documents":true}';
    expect(toRerankResponse({ ...ranked, request: requestOf(json) }).text).toContain(
      '"document":{"text":"b","id":12345678901234567}',
    );
  });

  it('writes an empty list of results', () => expect(answerTo({ results: [] })).toMatchObject({ results: [] }));
});
