// Provider P4, rerank: POST /rerank. Source: https://docs.pinecone.io/reference/api/2026-04/inference/rerank, read 2026-11-21.
import { invalidField } from '../../common/errors/gateway.error.js';
import { stringifyLongNumbers } from '../../common/json/numbers.js';
import { readObject, stringOrUndefined, type JsonObject } from '../../common/json/read.js';
import { withoutUndefined } from '../../common/without-undefined.js';
import type { UsageEstimate } from '../../gateway/billable-use.js';
import { estimateByChunks } from '../billing/estimates.js';
import type { RemoteRerankProvider, RerankDocument, RerankRequest } from '../rerank.types.js';
import { billedCount, readScores } from './answers.js';
import { documentText } from './document-text.js';

/**
 * Source: https://docs.pinecone.io/guides/search/rerank-results#reranking-models. The provider checks other models
 * itself.
 */
const MAX_DOCUMENTS_BY_MODEL: ReadonlyMap<string, number> = new Map([
  ['bge-reranker-v2-m3', 100],
  ['pinecone-rerank-v0', 100],
  ['cohere-rerank-3.5', 200],
]);

/**
 * One unit per request, whatever its size. Source:
 * https://docs.pinecone.io/guides/manage-cost/understanding-cost#rerank
 */
const BILLED_BY_REQUEST: ReadonlySet<string> = new Set(['bge-reranker-v2-m3', 'pinecone-rerank-v0']);
/**
 * Cohere's models: longer documents count as several of the 100 documents of a unit. `cohere-rerank-3.5` was billed by
 * the request, and is served by `cohere-rerank-4-fast` since 2026-08-01. Source:
 * https://docs.pinecone.io/models/cohere-rerank-4-fast
 */
const CHUNK_TOKENS = 500;

export const pineconeRerank: RemoteRerankProvider = {
  kind: 'remote',
  slug: 'pinecone',
  options: new Set(['rank_fields', 'parameters']),
  maxDocuments: 10_000,
  estimate,
  toUpstream(request) {
    checkDocumentCount(request);
    const { exact } = request;
    return exact === undefined
      ? { method: 'POST', path: '/rerank', body: toBody(request) }
      : { method: 'POST', path: '/rerank', bytes: Buffer.from(stringifyLongNumbers(toBody({ ...request, ...exact }))) };
  },
  fromUpstream(answer, request) {
    const body = readObject(answer, 'body');
    return {
      scores: readScores(body['data'], {
        path: 'body.data',
        scoreField: 'score', // this provider's name for relevance_score
        documentCount: request.documents.length,
      }),
      model: stringOrUndefined(body['model']),
      id: undefined,
      searchUnits: billedCount(body, 'usage', 'rerank_units'),
      totalTokens: undefined,
    };
  },
};

function toBody(request: RerankRequest) {
  return withoutUndefined({
    model: request.model,
    query: request.query,
    documents: request.documents.map((document, index) => toPineconeDocument(document, index, request.rankFields)),
    top_n: request.topN,
    rank_fields: request.rankFields,
    return_documents: request.returnDocuments, // always sent, since its default is true
    parameters: request.parameters,
  });
}

/** Unknown models may bill in either way: uses the chunks, which are never fewer. */
function estimate(request: RerankRequest): UsageEstimate {
  const byChunks = estimateByChunks(request, CHUNK_TOKENS);
  return BILLED_BY_REQUEST.has(request.model)
    ? { ...byChunks, counts: { ...byChunks.counts, search_unit: 1 } }
    : byChunks;
}

/** Wraps strings. Sends objects whole, since any field may be ranked; they need a `text` only without `rank_fields`. */
function toPineconeDocument(
  document: RerankDocument,
  index: number,
  rankFields: RerankRequest['rankFields'],
): JsonObject {
  if (typeof document === 'string') return { text: document };
  if (rankFields === undefined) documentText(document, index);
  return document;
}

function checkDocumentCount({ model, documents }: RerankRequest): void {
  const maximum = MAX_DOCUMENTS_BY_MODEL.get(model);
  if (maximum !== undefined && documents.length > maximum) {
    throw invalidField('documents', `must have at most ${maximum} items for this model`);
  }
}
