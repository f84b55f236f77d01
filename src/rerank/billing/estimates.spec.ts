import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from '../../../test/support/any-character.js';
import { requestWith } from '../providers/__fixtures__/requests.js';
import { estimateByChunks, estimateByTokens, tokenBound, tokenCounts, totalTokens } from './estimates.js';

const CHUNK = 500;
/** A text whose length in bytes makes this many tokens by the bound. */
const textOf = (tokens: number): string => 'x'.repeat((tokens - 16) * 3);
const documentsOf = (count: number, text = 'short'): string[] => Array.from({ length: count }, () => text);
const QUERY = textOf(100);

describe('tokenBound', () => {
  it.each([
    ['', 16],
    ['abc', 17],
    ['abcd', 18],
    ['检索', 18],
    ['🙂', 18],
  ])('estimates %j at %i tokens', (text, tokens) => expect(tokenBound(text)).toBe(tokens));

  it('never decreases when a text grows', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), fc.string({ unit: anyCharacter }), (text, more) => {
        expect(tokenBound(text + more)).toBeGreaterThanOrEqual(tokenBound(text) - 1);
      }),
    );
  });
});

describe('tokenCounts', () => {
  it('counts the text of objects, or the fields that are ranked', () => {
    const documents = [{ text: 'abc', title: 'abcdef' }, {}];
    expect(tokenCounts(requestWith({ documents })).documents).toEqual([17, 16]);
    const rankFields = ['title', 'text'];
    expect(tokenCounts(requestWith({ documents, rankFields })).documents).toEqual([35, 16]);
    expect(tokenCounts(requestWith({ documents: [{ text: [1, 2] }] })).documents).toEqual([18]);
  });

  it('counts a field once, even if rank_fields repeats it', () => {
    const rankFields = Array.from({ length: 1_000 }, () => 'title');
    expect(tokenCounts(requestWith({ documents: [{ title: 'abc' }], rankFields })).documents).toEqual([17]);
  });

  it('cuts texts at the limits of the provider', () => {
    const request = requestWith({ query: textOf(300), documents: [textOf(900), textOf(20)] });
    expect(tokenCounts(request, { document: 500 }).documents).toEqual([500, 20]);
    expect(tokenCounts(request, { query: 200, pair: 600 })).toEqual({ query: 200, documents: [400, 20] });
    expect(tokenCounts(request, { pair: 100 }).documents).toEqual([0, 0]);
  });

  it('counts the query once per document', () => {
    expect(totalTokens({ query: 10, documents: [1, 2, 3] })).toBe(36);
  });
});

describe('estimateByChunks', () => {
  const estimate = (documents: string[], query = QUERY) => estimateByChunks(requestWith({ query, documents }), CHUNK);

  it.each([
    [1, 1],
    [100, 1],
    [101, 2],
    [350, 4],
    [10_000, 100],
  ])('counts %i short documents as %i search units', (count, searchUnits) => {
    expect(estimate(documentsOf(count))).toMatchObject({
      unit: 'search_unit',
      counts: { search_unit: searchUnits },
    });
  });

  it.each([
    [400, 100, 1],
    [401, 100, 2],
    [800, 50, 1],
    [801, 50, 2],
    [4_000, 10, 1],
  ])('counts documents of %i tokens in chunks, for %i documents', (tokens, count, searchUnits) => {
    expect(estimate(documentsOf(count, textOf(tokens)))).toMatchObject({ counts: { search_unit: searchUnits } });
  });

  it('reserves half of a chunk for the document, however long the query is', () => {
    expect(estimate(documentsOf(100, textOf(250)), textOf(5_000))).toMatchObject({
      counts: { search_unit: 1 },
    });
    expect(estimate(documentsOf(100, textOf(251)), textOf(5_000))).toMatchObject({
      counts: { search_unit: 2 },
    });
  });

  it('estimates at least one unit per 100 documents, and never less for longer documents', () => {
    const anyTexts = fc.array(fc.string({ unit: anyCharacter, maxLength: 4_000 }), { minLength: 1, maxLength: 250 });
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), anyTexts, (query, documents) => {
        const { search_unit: searchUnits = 0, input = 0 } = estimate(documents, query).counts;
        expect(searchUnits).toBeGreaterThanOrEqual(Math.ceil(documents.length / 100));
        const longer = estimate(
          documents.map((text) => text + text),
          query,
        );
        expect(longer.counts.search_unit).toBeGreaterThanOrEqual(searchUnits);
        expect(longer.counts.input).toBeGreaterThanOrEqual(input);
      }),
      { numRuns: 50 },
    );
  });
});

describe('estimateByTokens', () => {
  it('limits the sum of tokens to the limit of the whole request', () => {
    const request = requestWith({ query: QUERY, documents: documentsOf(10, textOf(900)) });
    expect(estimateByTokens(request)).toEqual({ unit: 'input', counts: { input: 10_000 } });
    expect(estimateByTokens(request, { total: 6_000 }).counts.input).toBe(6_000);
  });
});
