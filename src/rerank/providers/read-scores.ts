import { readArray, readNumber, readObject, UnexpectedShapeError } from '../../common/json/read.js';
import type { RerankScore } from '../rerank.types.js';

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
  const seen = new Uint8Array(documentCount);
  return readArray(items, path).map((value, position) => {
    const here = `${path}[${position}]`;
    const item = readObject(value, here);
    const index = readNumber(item['index'], `${here}.index`);
    if (!Number.isInteger(index) || index < 0 || index >= documentCount) {
      throw new UnexpectedShapeError('the index of a document', `${here}.index`);
    }
    if (seen[index] === 1) throw new UnexpectedShapeError('each index once', `${here}.index`);
    seen[index] = 1;
    return { index, relevanceScore: readNumber(item[scoreField], `${here}.${scoreField}`) };
  });
}
