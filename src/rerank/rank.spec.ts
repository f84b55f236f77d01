import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { UnexpectedShapeError } from '../common/json/read.js';
import { joinParts, rank } from './rank.js';
import type { RerankOutcome, RerankScore } from './rerank.types.js';

/** One score a document, many of them equal. */
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
  it('puts the best first and equal scores in the order of the documents', () => {
    const scores = [0.2, 0.9, 0.9, -1].map((relevanceScore, index) => ({ index, relevanceScore }));
    expect(rank(scores, undefined).map(({ index }) => index)).toEqual([1, 2, 0, 3]);
  });

  it('answers the same for every order in which a provider may send the scores', () => {
    fc.assert(
      fc.property(anyScores, (scores) => {
        expect(rank([...scores].reverse(), undefined)).toEqual(rank(scores, undefined));
      }),
    );
  });

  it('loses no document, and never puts a lower score before a higher one', () => {
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

  it('cuts to the best n', () => {
    fc.assert(
      fc.property(anyScores, fc.integer({ min: 1, max: 60 }), (scores, topN) => {
        expect(rank(scores, topN)).toEqual(rank(scores, undefined).slice(0, topN));
      }),
    );
  });

  it('leaves what it was given as it was', () => {
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

  it('passes on an answer that came in one part', () => expect(joinParts([OUTCOME])).toBe(OUTCOME));

  it('joins the scores of all parts', () => {
    expect(joinParts([OUTCOME, second])).toMatchObject({ id: 'first', scores: [...OUTCOME.scores, ...second.scores] });
  });

  it('refuses an answer without parts, and one that scores a document twice', () => {
    expect(() => joinParts([])).toThrow(UnexpectedShapeError);
    expect(() => joinParts([OUTCOME, OUTCOME])).toThrow(UnexpectedShapeError);
  });
});
