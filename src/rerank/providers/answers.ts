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
  /** Where the items are, for the message. */
  readonly path: string;
  /** The provider's name for the score. */
  readonly scoreField: string;
  /** How many documents were sent: each index is below it. */
  readonly documentCount: number;
}

/** Scores by document. Throws UnexpectedShapeError for an index that is no document's or came before, and for no score. */
export function readScores(items: unknown, { path, scoreField, documentCount }: ScoreForm): readonly RerankScore[] {
  // Where something is gets a text only when it is wrong: for a thousand scores that would be three thousand texts.
  const fail = (expected: string, position: number, field = ''): never => {
    throw new UnexpectedShapeError(expected, `${path}[${position}]${field}`);
  };
  const seen = new Uint8Array(documentCount);
  return readArray(items, path).map((item, position) => {
    if (!isObject(item)) return fail('an object', position);
    const index = numberOrUndefined(item['index']) ?? fail('a number', position, '.index');
    if (!Number.isInteger(index) || index < 0 || index >= documentCount) {
      return fail('the index of a document', position, '.index');
    }
    if (seen[index] === 1) return fail('each index once', position, '.index');
    seen[index] = 1;
    const relevanceScore = numberOrUndefined(item[scoreField]) ?? fail('a number', position, `.${scoreField}`);
    return { index, relevanceScore };
  });
}

/** What an answer says that it bills, at a nested field; undefined where it says nothing that can be true. */
export function billedCount(body: JsonObject, ...names: readonly string[]): number | undefined {
  return believableCount(numberOrUndefined(nestedValue(body, ...names)));
}

/** A nested value of foreign JSON, undefined where the way to it ends: for fields that only inform. */
function nestedValue(value: unknown, ...names: readonly string[]): unknown {
  let current = value;
  for (const name of names) current = isObject(current) ? current[name] : undefined;
  return current;
}
