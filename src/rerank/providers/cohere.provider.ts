// Vendor P1, rerank: POST /v2/rerank. Source: https://docs.cohere.com/reference/rerank, read 2026-11-21.
import { withoutUndefined } from '../../common/without-undefined.js';
import type { RemoteRerankProvider } from '../rerank.types.js';
import { fromCohereAnswer, toCohereBody } from './cohere-v2.js';

export const cohereRerank: RemoteRerankProvider = {
  kind: 'remote',
  slug: 'cohere',
  options: new Set(['max_tokens_per_doc', 'priority']),
  // Cohere advises 1,000 for speed. Source: https://docs.cohere.com/docs/reranking-best-practices
  maxDocuments: 10_000,
  toUpstream: (request) => ({
    method: 'POST',
    path: '/v2/rerank',
    body: withoutUndefined({
      ...toCohereBody(request, request.model),
      max_tokens_per_doc: request.maxTokensPerDoc,
      priority: request.priority,
    }),
  }),
  fromUpstream: fromCohereAnswer,
};
