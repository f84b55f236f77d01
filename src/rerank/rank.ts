import { UnexpectedShapeError } from '../common/json/read.js';
import type { RerankOutcome, RerankScore } from './rerank.types.js';

/** Sorts by score, best first; equal scores keep the order of the documents. Cuts to `topN`. */
export function rank(scores: readonly RerankScore[], topN: number | undefined): readonly RerankScore[] {
  // Most providers return this order.
  const sorted = isRanked(scores)
    ? scores
    : scores.toSorted((a, b) => b.relevanceScore - a.relevanceScore || a.index - b.index);
  return topN === undefined ? sorted : sorted.slice(0, topN);
}

function isRanked(scores: readonly RerankScore[]): boolean {
  let before: RerankScore | undefined;
  for (const score of scores) {
    if (before !== undefined) {
      const isWorse = before.relevanceScore < score.relevanceScore;
      if (isWorse || (before.relevanceScore === score.relevanceScore && before.index > score.index)) return false;
    }
    before = score;
  }
  return true;
}

/** Joins the pages of an answer into one outcome. The first score of a document counts, and all pages are billed. */
export function joinParts(parts: readonly RerankOutcome[]): RerankOutcome {
  const [first, ...others] = parts;
  if (first === undefined) throw new UnexpectedShapeError('at least one part', 'the answer');
  if (others.length === 0) return first;
  const scores = new Map<number, RerankScore>();
  for (const part of parts)
    for (const score of part.scores) if (!scores.has(score.index)) scores.set(score.index, score);
  const searchUnits = sumOf(parts.map((part) => part.searchUnits));
  const totalTokens = sumOf(parts.map((part) => part.totalTokens));
  return { ...first, scores: [...scores.values()], searchUnits, totalTokens };
}

/** undefined where no part has a figure. */
function sumOf(figures: readonly (number | undefined)[]): number | undefined {
  const known = figures.filter((figure) => figure !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, figure) => sum + figure, 0);
}
