import { UnexpectedShapeError } from '../common/json/read.js';
import type { RerankOutcome, RerankScore } from './rerank.types.js';

/** Best first; equal scores in the order of the documents; cut to `topN`. */
export function rank(scores: readonly RerankScore[], topN: number | undefined): readonly RerankScore[] {
  const sorted = [...scores].sort((a, b) => b.relevanceScore - a.relevanceScore || a.index - b.index);
  return topN === undefined ? sorted : sorted.slice(0, topN);
}

/** One outcome from the parts of an answer that came in pages. The parts may not score a document twice. */
export function joinParts(parts: readonly RerankOutcome[]): RerankOutcome {
  const [first, ...others] = parts;
  if (first === undefined) throw new UnexpectedShapeError('at least one part', 'the answer');
  if (others.length === 0) return first;
  const scores = parts.flatMap((part) => part.scores);
  if (new Set(scores.map((score) => score.index)).size < scores.length)
    throw new UnexpectedShapeError('each index once', 'the answer');
  return { ...first, scores };
}
