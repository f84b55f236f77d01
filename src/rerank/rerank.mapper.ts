import { jsonMember, JsonText } from '../common/json/write.js';
import { hasLongNumbers, parseLongNumbers, stringifyLongNumbers } from '../common/json/numbers.js';
import { readArray, readObject } from '../common/json/read.js';
import type { CreateRerankDto } from './dto/create-rerank.dto.js';
import type { RankedRerank, RerankRequest } from './rerank.types.js';

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
    exact:
      bytes !== undefined && (hasLongNumbers(dto.documents) || hasLongNumbers(dto.parameters))
        ? exactOf(dto, bytes)
        : undefined,
    original: bytes === undefined || topN !== dto.top_n ? undefined : { bytes, names: Object.keys(dto) },
  };
}

/** The free-form values of the caller as it wrote them, where a double would change one, for example a 64-bit id. */
function exactOf({ parameters }: CreateRerankDto, bytes: Buffer): RerankRequest['exact'] {
  // The same JSON as the validated body.
  const body = readObject(parseLongNumbers(bytes), 'body');
  return {
    documents: readArray(body['documents'], 'documents').map((document, index) =>
      typeof document === 'string' ? document : readObject(document, `documents.${index}`),
    ),
    parameters: parameters === undefined ? undefined : readObject(body['parameters'], 'parameters'),
  };
}

/** The body of a `RerankResponse`. Written directly as text: creating an object first costs more. */
export function toRerankResponse({ request, outcome, id, provider, results }: RankedRerank): JsonText {
  const documentOf = request.returnDocuments ? documentWriter(request) : undefined;
  let items = '';
  for (const { index, relevanceScore } of results) {
    const document = documentOf === undefined ? '' : `,"document":${documentOf(index)}`;
    items += `,{"index":${index},"relevance_score":${relevanceScore}${document}}`;
  }
  const usage = jsonMember('search_units', outcome.searchUnits) + jsonMember('total_tokens', outcome.totalTokens);
  const members =
    jsonMember('object', 'list') +
    jsonMember('id', id) +
    `,"results":[${items.slice(1)}]` +
    jsonMember('model', outcome.model ?? request.model) +
    jsonMember('provider', provider) +
    (usage === '' ? '' : `,"usage":{${usage.slice(1)}}`);
  // Each member begins with a comma.
  return new JsonText(`{${members.slice(1)}}`);
}

/** Documents come from the request and never from the provider, so that the response is the same for every provider. */
function documentWriter({ documents, exact }: RerankRequest): (index: number) => string {
  const [all, stringify] = exact === undefined ? [documents, JSON.stringify] : [exact.documents, stringifyLongNumbers];
  return (index) => {
    const document = all[index];
    return stringify(typeof document === 'string' ? { text: document } : { ...document });
  };
}
