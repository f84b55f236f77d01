import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { UnexpectedShapeError } from '../common/json/read.js';
import type { RerankOutcome, RerankScore } from './rerank.types.js';
import { joinParts, rank } from './rerank.service.js';

/** One score per document, many of them equal. */
const anyScores: fc.Arbitrary<readonly RerankScore[]> = fc
  .array(fc.constantFrom(-1.5, -0, 0, 0.25, 0.5, 1, 12.75), { minLength: 1, maxLength: 50 })
  .map((scores) => scores.map((relevanceScore, index) => ({ index, relevanceScore })));

const OUTCOME: RerankOutcome = {
  scores: [{ index: 0, relevanceScore: 0.5 }],
  model: 'rerank-v3',
  id: 'first',
  searchUnits: 1,
  totalTokens: undefined,
};

describe('rank', () => {
  it('sorts by score, and equal scores by document', () => {
    const scores = [0.2, 0.9, 0.9, -1].map((relevanceScore, index) => ({ index, relevanceScore }));
    expect(rank(scores, undefined).map(({ index }) => index)).toEqual([1, 2, 0, 3]);
  });

  it('returns the same result for every order of the scores', () => {
    fc.assert(
      fc.property(anyScores, (scores) => {
        expect(rank([...scores].reverse(), undefined)).toEqual(rank(scores, undefined));
      }),
    );
  });

  it('keeps every document, and never puts a lower score before a higher one', () => {
    fc.assert(
      fc.property(anyScores, (scores) => {
        const ranked = rank(scores, undefined);
        expect(new Set(ranked)).toEqual(new Set(scores));
        for (const [place, score] of ranked.entries()) {
          expect(score.relevanceScore).toBeGreaterThanOrEqual(ranked[place + 1]?.relevanceScore ?? -Infinity);
        }
      }),
    );
  });

  it('cuts the results to the best n', () => {
    fc.assert(
      fc.property(anyScores, fc.integer({ min: 1, max: 60 }), (scores, topN) => {
        expect(rank(scores, topN)).toEqual(rank(scores, undefined).slice(0, topN));
      }),
    );
  });

  it('does not change its input', () => {
    const scores = Object.freeze([
      { index: 0, relevanceScore: 0 },
      { index: 1, relevanceScore: 1 },
    ]);
    expect(rank(scores, 1)).toEqual([{ index: 1, relevanceScore: 1 }]);
    expect(scores).toHaveLength(2);
  });
});

describe('joinParts', () => {
  const second = { ...OUTCOME, id: 'second', scores: [{ index: 1, relevanceScore: 0.75 }] };

  it('returns a single part unchanged', () => expect(joinParts([OUTCOME])).toBe(OUTCOME));

  it('joins the scores of all parts', () => {
    expect(joinParts([OUTCOME, second])).toMatchObject({ id: 'first', scores: [...OUTCOME.scores, ...second.scores] });
  });

  it('adds up what the parts are billed', () => {
    const byToken = { ...OUTCOME, searchUnits: undefined, totalTokens: 7 };
    expect(joinParts([OUTCOME, second])).toMatchObject({ searchUnits: 2, totalTokens: undefined });
    expect(joinParts([byToken, { ...byToken, scores: [] }])).toMatchObject({ searchUnits: undefined, totalTokens: 14 });
  });

  it('keeps the first score of a document', () => {
    const again = { ...second, scores: [{ index: 0, relevanceScore: 9 }, ...second.scores] };
    expect(joinParts([OUTCOME, again]).scores).toEqual([...OUTCOME.scores, ...second.scores]);
  });

  it('refuses an answer without parts', () => {
    expect(() => joinParts([])).toThrow(UnexpectedShapeError);
  });
});
