// Imported, since the global `Buffer` is a getter, which would run for each of a thousand documents.
import { Buffer } from 'node:buffer';
import type { UsageEstimate } from '../../gateway/billable-use.js';
import type { RerankDocument, RerankRequest } from '../rerank.types.js';

const CHUNKS_PER_SEARCH_UNIT = 100;
/** The part of a chunk that models reserve for the document, however long the query is. */
const SMALLEST_DOCUMENT_PART = 1 / 2;

/**
 * For providers that bill by search unit: a query with up to 100 chunks. A document is one chunk, or several when it
 * and the query have more than `chunkTokens` together.
 */
export function estimateByChunks(request: RerankRequest, chunkTokens: number, limits?: TokenLimits): UsageEstimate {
  const counts = tokenCounts(request, limits);
  const room = Math.max(chunkTokens - counts.query, Math.ceil(chunkTokens * SMALLEST_DOCUMENT_PART));
  let chunks = 0;
  for (const tokens of counts.documents) chunks += Math.max(1, Math.ceil(tokens / room));
  return {
    unit: 'search_unit',
    counts: { search_unit: Math.ceil(chunks / CHUNKS_PER_SEARCH_UNIT), input: totalTokens(counts) },
  };
}

/** For providers that bill by token and report the number afterwards. */
export function estimateByTokens(request: RerankRequest, limits: TokenLimits = {}): UsageEstimate {
  const total = totalTokens(tokenCounts(request, limits));
  return { unit: 'input', counts: { input: Math.min(total, limits.total ?? Infinity) } };
}

/**
 * "Documents longer than 500 tokens when including the length of the search query" count as several. Source: the models
 * of Cohere at https://learn.microsoft.com/azure/ai-foundry/how-to/deploy-models-cohere-rerank, read 2026-11-21. For
 * the models of generation 3.0 Azure says 4,096, which makes this an upper bound there.
 */
const CHUNK_TOKENS = 500;
/** Billed by token. Source: https://openrouter.ai/models/cohere/rerank-5-fast-20261028, read 2026-11-21. */
const BILLED_BY_TOKEN = /^\s*rerank-v5\b/i;

/** The estimate for Cohere's models, at any host. */
export function estimateCohere(request: RerankRequest, limits?: TokenLimits): UsageEstimate {
  return BILLED_BY_TOKEN.test(request.model)
    ? estimateByTokens(request, limits)
    : estimateByChunks(request, CHUNK_TOKENS, limits);
}

/** Whether the name is a model of Cohere's generation 5. Unknown for Azure deployments, whose names are free. */
export function isBilledByToken(model: string): boolean {
  return BILLED_BY_TOKEN.test(model);
}

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
