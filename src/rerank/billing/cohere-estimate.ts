import type { UsageEstimate } from '../../gateway/billable-use.js';
import type { RerankRequest } from '../rerank.types.js';
import { estimateByChunks, estimateByTokens } from './estimates.js';
import type { TokenLimits } from './tokens.js';

/**
 * "Documents longer than 500 tokens when including the length of the search query" are several. Source: the models of
 * Cohere at https://learn.microsoft.com/azure/ai-foundry/how-to/deploy-models-cohere-rerank, read 2026-11-21. For the
 * models of generation 3.0 Azure says 4,096, which makes this an upper bound there.
 */
const CHUNK_TOKENS = 500;
/** Billed by token. Source: https://openrouter.ai/models/cohere/rerank-5-fast-20261028, read 2026-11-21. */
const BILLED_BY_TOKEN = /^\s*rerank-v5\b/i;

/** For Cohere's models, at Cohere and elsewhere. */
export function estimateCohere(request: RerankRequest, limits?: TokenLimits): UsageEstimate {
  return isBilledByToken(request.model)
    ? estimateByTokens(request, limits)
    : estimateByChunks(request, CHUNK_TOKENS, limits);
}

/** By the name of the model, Cohere's generation 5. Of a deployment at Azure it is not known: the name of one is free. */
export function isBilledByToken(model: string): boolean {
  return BILLED_BY_TOKEN.test(model);
}
