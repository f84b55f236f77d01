// Imported, since the global `Buffer` is a getter, which would run for each of a thousand documents.
import { Buffer } from 'node:buffer';
import type { RerankDocument, RerankRequest } from '../rerank.types.js';

/** Tokenizers make one token of three to five bytes of running text, in any script. */
const BYTES_PER_TOKEN = 3;
/** Allowance for tokens that models add around a text, and for short texts without words. */
const TOKENS_AROUND = 16;

const TEXT_ALONE: ReadonlySet<string> = new Set(['text']);

/** Limits in tokens, beyond which a provider cuts or refuses the input. */
export interface TokenLimits {
  readonly query?: number;
  readonly document?: number;
  /** The query and one document. */
  readonly pair?: number;
  readonly total?: number;
}

/** Tokens of the query, and of each document up to where the model reads it. */
export interface TokenCounts {
  readonly query: number;
  readonly documents: readonly number[];
}

/** An upper bound of tokens for running text. Random text (keys, base64) may have more. */
export function tokenBound(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN) + TOKENS_AROUND;
}

export function tokenCounts(request: RerankRequest, limits: TokenLimits = {}): TokenCounts {
  const query = Math.min(tokenBound(request.query), limits.query ?? Infinity);
  const fields = request.rankFields === undefined ? TEXT_ALONE : new Set(request.rankFields);
  const longest = Math.min(limits.document ?? Infinity, Math.max(0, (limits.pair ?? Infinity) - query));
  const documents: number[] = [];
  for (const document of request.documents) {
    const tokens = typeof document === 'string' ? tokenBound(document) : fieldTokens(document, fields);
    documents.push(Math.min(tokens, longest));
  }
  return { query, documents };
}

/** Each document is read together with the query: the query counts once for each. */
export function totalTokens({ query, documents }: TokenCounts): number {
  let total = query * documents.length;
  for (const tokens of documents) total += tokens;
  return total;
}

/** Takes time in proportion to the document, however many fields the caller names and repeats. */
function fieldTokens(document: Exclude<RerankDocument, string>, rankFields: ReadonlySet<string>): number {
  let tokens = 0;
  for (const [field, value] of Object.entries(document)) if (rankFields.has(field)) tokens += tokenBound(asText(value));
  return Math.max(tokens, TOKENS_AROUND);
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
