import { UnexpectedShapeError } from '../common/json/read.js';
import type { RerankOutcome, RerankScore } from './rerank.types.js';

/** Sorts by score, best first; equal scores keep the order of the documents. Cuts to `topN`. */
export function rank(scores: readonly RerankScore[], topN: number | undefined): readonly RerankScore[] {
  // Most providers return this order.
  const sorted = isRanked(scores) ? scores : scores.toSorted(byRank);
  return topN === undefined ? sorted : sorted.slice(0, topN);
}

function isRanked(scores: readonly RerankScore[]): boolean {
  return scores.every((score, place) => {
    const before = scores[place - 1];
    return before === undefined || byRank(before, score) <= 0;
  });
}

function byRank(a: RerankScore, b: RerankScore): number {
  return b.relevanceScore - a.relevanceScore || a.index - b.index;
}

/** Joins the pages of an answer into one outcome. A document must not have two scores. */
export function joinParts(parts: readonly RerankOutcome[]): RerankOutcome {
  const [first, ...others] = parts;
  if (first === undefined) throw new UnexpectedShapeError('at least one part', 'the answer');
  if (others.length === 0) return first;
  const scores = parts.flatMap((part) => part.scores);
  if (new Set(scores.map((score) => score.index)).size < scores.length)
    throw new UnexpectedShapeError('each index once', 'the answer');
  return { ...first, scores };
}
