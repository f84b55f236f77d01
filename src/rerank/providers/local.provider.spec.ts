import { describe, expect, it } from '@jest/globals';
import { requestWith } from './__fixtures__/requests.js';
import { localRerank } from './local.provider.js';
import type { RerankDocument } from '../rerank.types.js';

async function scoresOf(query: string, documents: readonly RerankDocument[]): Promise<readonly number[]> {
  const { scores } = await localRerank.rerank(requestWith({ query, documents }));
  expect(scores.map((score) => score.index)).toEqual(documents.map((_, index) => index));
  return scores.map((score) => score.relevanceScore);
}

function bestOf(scores: readonly number[]): number {
  return scores.indexOf(Math.max(...scores));
}

describe('localRerank', () => {
  it('ranks the matching document first', async () => {
    const scores = await scoresOf('capital of the United States', [
      'Carson City is the capital city of the American state of Nevada.',
      'Saipan is an island in the Pacific Ocean.',
      'Washington, D.C. is the capital of the United States.',
    ]);
    expect(bestOf(scores)).toBe(2);
  });

  it('scores a document without a common word 0, and still lists it', async () => {
    expect(await scoresOf('zebra', ['horse', 'a zebra', ''])).toEqual([0, expect.any(Number), 0]);
  });

  it('returns the known BM25 score for one word in one of two documents', async () => {
    const [score] = await scoresOf('apple', ['apple', 'pear']);
    // idf = ln(1 + (2 - 1 + 0.5) / (1 + 0.5)); term frequency 1, length = average, k 1.2, b 0.7, d 0.5.
    expect(score).toBeCloseTo(Math.log(2) * (0.5 + 2.2 / 2.2), 10);
  });

  it('weighs rare words more than common ones', async () => {
    const scores = await scoresOf('common rare', ['common word', 'common word', 'common word', 'rare word']);
    expect(bestOf(scores)).toBe(3);
  });

  it('returns the sum of the scores of the single words', async () => {
    const documents = ['red apple', 'green apple', 'red pear'];
    const [red, apple, both] = await Promise.all(
      ['red', 'apple', 'red apple'].map((query) => scoresOf(query, documents)),
    );
    for (const index of documents.keys()) {
      expect(both?.[index]).toBeCloseTo((red?.[index] ?? 0) + (apple?.[index] ?? 0), 10);
    }
  });

  it('finds words in scripts without spaces, and across spellings', async () => {
    expect(bestOf(await scoresOf('日本の首都', ['パリはフランスの首都です', '東京は日本の首都です']))).toBe(1);
    expect(bestOf(await scoresOf('STRASSE café', ['a house', 'ｓｔｒａｓｓｅ', 'CAFÉ strasse']))).toBe(2);
  });

  it('ranks objects by their text, and names an object without one', async () => {
    expect(await scoresOf('apple', [{ text: 'apple' }, 'pear'])).toEqual([expect.any(Number), 0]);
    await expect(localRerank.rerank(requestWith({ documents: ['a', { title: 'b' }] }))).rejects.toMatchObject({
      code: 'validation_failed',
      param: 'documents.1.text',
    });
  });

  it('accepts queries with names such as constructor', async () => {
    expect(await scoresOf('constructor __proto__', ['constructor', 'pear'])).toEqual([expect.any(Number), 0]);
  });

  it('scores all documents 0 for a query without words', async () => {
    expect(await scoresOf('?!', ['a', 'b'])).toEqual([0, 0]);
  });

  it('returns its own model name and no usage', async () => {
    expect(await localRerank.rerank(requestWith({ model: 'whatever' }))).toMatchObject({
      model: 'bm25',
      searchUnits: undefined,
      totalTokens: undefined,
    });
  });

  it('reads only the first 32,000 characters of a document', async () => {
    const filler = 'x '.repeat(15_999);
    expect(await scoresOf('zebra', [`${filler}zebra`, `${filler}z zebra`])).toEqual([0, 0]);
    expect((await scoresOf('zebra', [`${filler.slice(0, -8)}zebra`, 'a']))[0]).toBeGreaterThan(0);
  });

  it('lets other work run while it ranks', async () => {
    let turns = 0;
    let working = true;
    const count = (): void => {
      turns += 1;
      if (working) setImmediate(count);
    };
    setImmediate(count);
    // 100 documents of 4,000 words: 200 portions of 2,000.
    await scoresOf(
      'word',
      Array.from({ length: 100 }, () => 'word and '.repeat(2_000)),
    );
    working = false;
    expect(turns).toBeGreaterThan(150);
  });
});
