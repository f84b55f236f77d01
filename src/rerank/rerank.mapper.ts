import type { CreateRerankDto } from './dto/create-rerank.dto.js';
import type { RerankResponse } from './rerank.response.js';
import type { RankedRerank, RerankDocument, RerankRequest } from './rerank.types.js';

/** `bytes`: the JSON that the body was read from. */
export function toRerankRequest(dto: CreateRerankDto, bytes?: Buffer): RerankRequest {
  const topN = dto.top_n === undefined ? undefined : Math.min(dto.top_n, dto.documents.length);
  return {
    model: dto.model,
    query: dto.query,
    documents: dto.documents,
    topN,
    returnDocuments: dto.return_documents ?? false,
    maxTokensPerDoc: dto.max_tokens_per_doc,
    priority: dto.priority,
    rankFields: dto.rank_fields,
    truncation: dto.truncation,
    parameters: dto.parameters,
    original: bytes === undefined || topN !== dto.top_n ? undefined : { bytes, names: Object.keys(dto) },
  };
}

/** What is undefined here is absent from the JSON. */
export function toRerankResponse({ request, outcome, id, provider, results }: RankedRerank): RerankResponse {
  const { searchUnits, totalTokens } = outcome;
  return {
    object: 'list',
    id,
    results: results.map(({ index, relevanceScore }) => ({
      index,
      relevance_score: relevanceScore,
      document: request.returnDocuments ? toDocument(request.documents[index]) : undefined,
    })),
    model: outcome.model ?? request.model,
    provider,
    usage:
      searchUnits === undefined && totalTokens === undefined
        ? undefined
        : { search_units: searchUnits, total_tokens: totalTokens },
  };
}

/** Documents come from the request and never from the provider, so that every provider answers the same. */
function toDocument(document: RerankDocument | undefined): Readonly<Record<string, unknown>> {
  return typeof document === 'string' ? { text: document } : { ...document };
}
