import type { UsageEstimate } from '../../gateway/billable-use.js';
import type { RerankRequest } from '../rerank.types.js';
import { tokenCounts, type TokenLimits, totalTokens } from './tokens.js';

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
  return isBilledByToken(request.model)
    ? estimateByTokens(request, limits)
    : estimateByChunks(request, CHUNK_TOKENS, limits);
}

/** Whether the name is a model of Cohere's generation 5. Unknown for Azure deployments, whose names are free. */
export function isBilledByToken(model: string): boolean {
  return BILLED_BY_TOKEN.test(model);
}
