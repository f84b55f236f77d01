import { JsonText } from '../common/http/json-text.js';
import { hasLongNumbers, parseLongNumbers, stringifyLongNumbers } from '../common/json/long-numbers.js';
import { readArray, readObject } from '../common/json/read.js';
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
    exact: bytes === undefined ? undefined : exactOf(dto, bytes),
    original: bytes === undefined || topN !== dto.top_n ? undefined : { bytes, names: Object.keys(dto) },
  };
}

/** What holds values of the caller's own, where a double would change one: somebody's id, most likely. */
function exactOf({ documents, parameters }: CreateRerankDto, bytes: Buffer): RerankRequest['exact'] {
  if (!hasLongNumbers(documents) && !hasLongNumbers(parameters)) return undefined;
  // The same JSON as that of the body, which was checked.
  const body = readObject(parseLongNumbers(bytes), 'body');
  return {
    documents: readArray(body['documents'], 'documents').map((document, index) =>
      typeof document === 'string' ? document : readObject(document, `documents.${index}`),
    ),
    parameters: parameters === undefined ? undefined : readObject(body['parameters'], 'parameters'),
  };
}

export function toRerankResponse(ranked: RankedRerank): RerankResponse | JsonText {
  const { exact, documents } = ranked.request;
  return exact === undefined
    ? responseWith(ranked, documents)
    : new JsonText(stringifyLongNumbers(responseWith(ranked, exact.documents)));
}

/** What is undefined here is absent from the JSON. */
function responseWith(
  { request, outcome, id, provider, results }: RankedRerank,
  documents: readonly RerankDocument[],
): RerankResponse {
  const { searchUnits, totalTokens } = outcome;
  return {
    object: 'list',
    id,
    results: results.map(({ index, relevanceScore }) => ({
      index,
      relevance_score: relevanceScore,
      document: request.returnDocuments ? toDocument(documents[index]) : undefined,
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
