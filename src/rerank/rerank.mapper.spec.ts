import { describe, expect, it } from '@jest/globals';
import { stringifyLongNumbers } from '../common/json/numbers.js';
import type { CreateRerankDto } from './dto/create-rerank.dto.js';
import { type AnswerForm, answerFormOf, toRerankRequest, toRerankResponse } from './rerank.mapper.js';
import { FOREIGN_OPTIONS, type RankedRerank } from './rerank.types.js';

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

describe('a body of another rerank client', () => {
  const bodyWith = (more: string): string => `{"model":"m","query":"q","documents":["a","b"]${more}}`;
  const OPTIONS = ['top_n', 'top_k', 'return_documents', 'max_tokens_per_doc', 'priority', 'rank_fields', 'truncation'];
  const NULLS = [...OPTIONS, 'parameters', ...FOREIGN_OPTIONS].map((name) => `,"${name}":null`);

  it.each([...NULLS, NULLS.join('')])('reads null as absence: %s', (nulls) => {
    const { original: _with, ...expected } = requestOf(bodyWith(''));
    expect(requestOf(bodyWith(nulls))).toEqual({ ...expected, original: undefined });
  });

  it('reads top_k as top_n', () => {
    expect(requestOf(bodyWith(',"top_k":1'))).toMatchObject({
      topN: 1,
      foreign: { values: {}, understood: ['top_k'] },
    });
    expect(requestOf(bodyWith(',"top_k":1,"top_n":1'))).toMatchObject({ topN: 1, foreign: { understood: ['top_k'] } });
  });

  it('reads top_n when top_k differs, which it leaves', () => {
    expect(requestOf(bodyWith(',"top_k":1,"top_n":2'))).toMatchObject({
      topN: 2,
      foreign: { values: { top_k: 1 }, understood: [] },
    });
  });

  it('keeps the options of other APIs as they are', () => {
    const values = { user: 'u-1', truncate: 'END', max_chunks_per_doc: 10, instruction: '' };
    const more = `,${JSON.stringify(values).slice(1, -1)}`;
    expect(requestOf(bodyWith(more)).foreign).toEqual({ values, understood: [] });
  });

  it.each([
    ['true', true],
    ['"true"', true],
    ['false', false],
    ['"false"', false],
  ])('reads return_documents %s', (text, returnDocuments) => {
    expect(requestOf(bodyWith(`,"return_documents":${text}`))).toMatchObject({ returnDocuments });
  });
});

describe('answerFormOf', () => {
  const dto = { model: 'm', query: 'q', documents: ['a'] };

  it.each([
    [{ ...dto, top_k: null }, {}],
    [{ ...dto, truncation: true }, {}],
    [dto, { 'x-fern-sdk-name': 'voyageai' }],
  ])("has Voyage's list for %j with the headers %j", (body, headers) => {
    expect(answerFormOf(body, headers, '1')).toEqual({ version: '1', hasData: true });
  });

  it.each([
    [dto, {}],
    [{ ...dto, top_n: 1 }, { 'x-fern-sdk-name': 'cohere-ai' }],
  ])("has no list of Voyage's for %j with the headers %j", (body, headers) => {
    expect(answerFormOf(body, headers, '2')).toEqual({ version: '2', hasData: false });
  });
});

describe('toRerankResponse', () => {
  const FORM: AnswerForm = { version: '1', hasData: false };
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
  const answerTo = (changes: Partial<RankedRerank>, form = FORM): unknown =>
    JSON.parse(toRerankResponse({ ...ranked, ...changes }, form).text);

  it('writes the documented fields, without unknown values', () => {
    expect(answerTo({}, { ...FORM, version: '2' })).toStrictEqual({
      object: 'list',
      id: 'r-1',
      results,
      model: 'm "1"',
      provider: 'cohere',
      meta: { api_version: { version: '2' } },
    });
  });

  it.each([
    [{ searchUnits: 2 }, { search_units: 2 }, { search_units: 2 }],
    [{ totalTokens: 30 }, { prompt_tokens: 30, total_tokens: 30 }, { input_tokens: 30 }],
    [
      { searchUnits: 0, totalTokens: 30 },
      { search_units: 0, prompt_tokens: 30, total_tokens: 30 },
      { search_units: 0, input_tokens: 30 },
    ],
  ])('writes the usage of %j', (used, usage, billed_units) => {
    expect(answerTo({ outcome: { ...ranked.outcome, ...used, model: 'used' } })).toMatchObject({
      usage,
      model: 'used',
      meta: { api_version: { version: '1' }, billed_units },
    });
  });

  it("repeats the results as Voyage's list, with text documents as strings", () => {
    const request = { ...ranked.request, returnDocuments: true };
    expect(answerTo({ request }, { ...FORM, hasData: true })).toMatchObject({
      data: [
        { ...results[0], document: { text: 'b', page: 7 } },
        { ...results[1], document: 'a "é"\n' },
      ],
    });
    expect(answerTo({}, { ...FORM, hasData: true })).toMatchObject({ results, data: results });
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
    expect(toRerankResponse({ ...ranked, request: requestOf(json) }, FORM).text).toContain(
      '"document":{"text":"b","id":12345678901234567}',
    );
  });

  it('writes an empty list of results', () => expect(answerTo({ results: [] })).toMatchObject({ results: [] }));
});
