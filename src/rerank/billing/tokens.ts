// Not the global of that name, which is a getter: of a thousand documents each would ask it.
import { Buffer } from 'node:buffer';
import { isObject } from '../../common/json/read.js';
import type { RerankDocument, RerankRequest } from '../rerank.types.js';

/** Tokenizers make one token of three to five bytes of running text, in any script. */
const BYTES_PER_TOKEN = 3;
/** For what models put around a text, and for short texts that are no words. */
const TOKENS_AROUND = 16;

/** Where a provider cuts, or refuses, what is longer. In tokens. */
export interface TokenLimits {
  readonly query?: number;
  readonly document?: number;
  /** The query and one document. */
  readonly pair?: number;
  readonly total?: number;
}

/** Of the query, and of each document as far as the model reads it. */
export interface TokenCounts {
  readonly query: number;
  readonly documents: readonly number[];
}

/** At most so many tokens for running text; text that looks random (keys, base64) may have more. */
export function tokenBound(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN) + TOKENS_AROUND;
}

export function tokenCounts(request: RerankRequest, limits: TokenLimits = {}): TokenCounts {
  const query = Math.min(tokenBound(request.query), limits.query ?? Infinity);
  const longest = Math.min(limits.document ?? Infinity, Math.max(0, (limits.pair ?? Infinity) - query));
  const documents = request.documents.map((document) =>
    Math.min(documentTokens(document, request.rankFields), longest),
  );
  return { query, documents };
}

/** Each document is read together with the query: the query counts once for each. */
export function totalTokens({ query, documents }: TokenCounts): number {
  return documents.reduce((sum, tokens) => sum + query + tokens, 0);
}

function documentTokens(document: RerankDocument, rankFields: readonly string[] = ['text']): number {
  if (!isObject(document)) return tokenBound(document);
  return rankFields.reduce((sum, field) => sum + tokenBound(asText(document[field])), 0);
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
