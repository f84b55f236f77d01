import { invalidField } from '../../common/errors/gateway.error.js';
import { isObject } from '../../common/json/read.js';
import type { RerankDocument } from '../rerank.types.js';

/** The text of a document, for providers that rank nothing else. Throws the 400 that names the document. */
export function documentText(document: RerankDocument, index: number): string {
  const text: unknown = isObject(document) ? document['text'] : document;
  if (typeof text !== 'string') throw invalidField(`documents.${index}.text`, 'must be a string');
  return text;
}

export function documentTexts(documents: readonly RerankDocument[]): readonly string[] {
  return documents.map(documentText);
}
