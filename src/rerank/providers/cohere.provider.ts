// Provider P1, rerank: POST /v2/rerank. Source: https://docs.cohere.com/reference/rerank, read 2026-11-21.
import { withoutUndefined } from '../../common/without-undefined.js';
import { estimateCohere } from '../billing/estimates.js';
import type { RemoteRerankProvider, RerankRequest } from '../rerank.types.js';
import { fromCohereAnswer, toCohereBody } from './cohere-v2.js';
import { countMembers } from '../../common/json/scan.js';

const FIELDS = new Set(['model', 'query', 'documents', 'top_n', 'max_tokens_per_doc', 'priority']);

/** Cohere cuts longer documents. */
const DEFAULT_MAX_TOKENS_PER_DOC = 4_096;

export const cohereRerank: RemoteRerankProvider = {
  kind: 'remote',
  slug: 'cohere',
  options: new Set(['max_tokens_per_doc', 'priority']),
  // Cohere advises 1,000 for speed. Source: https://docs.cohere.com/docs/reranking-best-practices
  maxDocuments: 10_000,
  estimate: (request) => estimateCohere(request, { document: request.maxTokensPerDoc ?? DEFAULT_MAX_TOKENS_PER_DOC }),
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

/**
 * The caller's JSON, if the provider accepts all its fields and all documents are text. Saves serializing the same JSON
 * again.
 *
 * Each field must occur once: of duplicates, the gateway reads the last one and the provider may read the first.
 */
export function originalJson({ original, documents }: RerankRequest, fields: ReadonlySet<string>): Buffer | undefined {
  if (original === undefined) return undefined;
  const { bytes, names } = original;
  for (const name of names) if (!fields.has(name)) return undefined;
  for (const document of documents) if (typeof document !== 'string') return undefined;
  return countMembers(bytes) === names.length ? bytes : undefined;
}
