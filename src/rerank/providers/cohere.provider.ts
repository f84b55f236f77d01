// Provider P1, rerank: POST /v2/rerank, whose contract Azure AI Foundry shares. Source: https://docs.cohere.com/reference/rerank, read 2026-11-21.
import { readObject, stringOrUndefined } from '../../common/json/read.js';
import { countMembers } from '../../common/json/scan.js';
import { withoutUndefined } from '../../common/without-undefined.js';
import { estimateCohere, isBilledByToken } from '../billing/estimates.js';
import type { RemoteRerankProvider, RerankOutcome, RerankRequest } from '../rerank.types.js';
import { billedCount, readScores } from './answers.js';
import { documentTexts } from './document-text.js';

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

/** The fields that both hosts take. Documents are strings in version 2, and there is no `return_documents`. */
export function toCohereBody(request: RerankRequest, model: string) {
  return withoutUndefined({
    model,
    query: request.query,
    documents: documentTexts(request.documents),
    top_n: request.topN,
  });
}

export function fromCohereAnswer(answer: unknown, request: RerankRequest): RerankOutcome {
  const body = readObject(answer, 'body');
  const searchUnits = billedCount(body, 'meta', 'billed_units', 'search_units');
  const tokens = billedCount(body, 'meta', 'billed_units', 'input_tokens');
  // Units that are not billed are reported as 0 or left out.
  const isByToken = tokens !== undefined && (isBilledByToken(request.model) || !searchUnits);
  return {
    scores: readScores(body['results'], {
      path: 'body.results',
      scoreField: 'relevance_score',
      documentCount: request.documents.length,
    }),
    // Not in the answer.
    model: undefined,
    id: stringOrUndefined(body['id']),
    searchUnits: isByToken ? undefined : searchUnits,
    totalTokens: isByToken ? tokens : undefined,
  };
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
