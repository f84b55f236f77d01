// Vendor P1, rerank: POST /v2/rerank. Source: https://docs.cohere.com/reference/rerank, read 2026-11-21.
import { withoutUndefined } from '../../common/without-undefined.js';
import type { RemoteRerankProvider, RerankRequest } from '../rerank.types.js';
import { fromCohereAnswer, toCohereBody } from './cohere-v2.js';
import { originalJson } from './original-json.js';

const FIELDS = new Set(['model', 'query', 'documents', 'top_n', 'max_tokens_per_doc', 'priority']);

export const cohereRerank: RemoteRerankProvider = {
  kind: 'remote',
  slug: 'cohere',
  options: new Set(['max_tokens_per_doc', 'priority']),
  // Cohere advises 1,000 for speed. Source: https://docs.cohere.com/docs/reranking-best-practices
  maxDocuments: 10_000,
  toUpstream(request) {
    const bytes = originalJson(request, FIELDS);
    return { method: 'POST', path: '/v2/rerank', bytes, body: bytes === undefined ? toBody(request) : undefined };
  },
  fromUpstream: fromCohereAnswer,
};

function toBody(request: RerankRequest) {
  return withoutUndefined({
    ...toCohereBody(request, request.model),
    max_tokens_per_doc: request.maxTokensPerDoc,
    priority: request.priority,
  });
}
