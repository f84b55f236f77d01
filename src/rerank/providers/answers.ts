import {
  isObject,
  type JsonObject,
  numberOrUndefined,
  readArray,
  UnexpectedShapeError,
} from '../../common/json/read.js';
import type { RerankScore } from '../rerank.types.js';
import { believableCount } from '../../gateway/call-cost.js';

interface ScoreForm {
  /** Path of the items, for the error message. */
  readonly path: string;
  /** The provider's name for the score. */
  readonly scoreField: string;
  /** Number of documents sent; each index is below it. */
  readonly documentCount: number;
}

/**
 * Reads the score of each document. Throws UnexpectedShapeError for an unknown or repeated index and for a missing
 * score.
 */
export function readScores(items: unknown, { path, scoreField, documentCount }: ScoreForm): readonly RerankScore[] {
  // Paths are built only for errors: a thousand scores would need three thousand texts.
  const fail = (expected: string, position: number, field = ''): never => {
    throw new UnexpectedShapeError(expected, `${path}[${position}]${field}`);
  };
  const seen = new Uint8Array(documentCount);
  const scores: RerankScore[] = [];
  for (const [position, item] of readArray(items, path).entries()) {
    if (!isObject(item)) return fail('an object', position);
    const index = numberOrUndefined(item['index']) ?? fail('a number', position, '.index');
    if (!Number.isInteger(index) || index < 0 || index >= documentCount) {
      return fail('the index of a document', position, '.index');
    }
    if (seen[index] === 1) return fail('each index once', position, '.index');
    seen[index] = 1;
    const relevanceScore = numberOrUndefined(item[scoreField]) ?? fail('a number', position, `.${scoreField}`);
    scores.push({ index, relevanceScore });
  }
  return scores;
}

/** A billed count in a nested field of an answer; undefined when it is missing or implausible. */
export function billedCount(body: JsonObject, ...names: readonly string[]): number | undefined {
  let value: unknown = body;
  for (const name of names) value = isObject(value) ? value[name] : undefined;
  return believableCount(numberOrUndefined(value));
}
