import type { IncomingHttpHeaders } from 'node:http';
import { jsonMember, jsonString, JsonText } from '../common/json/write.js';
import { hasLongNumbers, parseLongNumbers, stringifyLongNumbers } from '../common/json/numbers.js';
import { readArray, readObject } from '../common/json/read.js';
import type { CreateRerankDto } from './dto/create-rerank.dto.js';
import {
  FOREIGN_OPTIONS,
  type ForeignOption,
  type ForeignOptions,
  type RankedRerank,
  type RerankOption,
  type RerankRequest,
} from './rerank.types.js';

/** `bytes`: the JSON that the body was read from. Null is absence. */
export function toRerankRequest(dto: CreateRerankDto, bytes?: Buffer): RerankRequest {
  const names = Object.keys(dto);
  const foreign = foreignOptions(dto, names);
  const most = dto.top_n ?? dto.top_k ?? undefined;
  const topN = most === undefined ? undefined : Math.min(most, dto.documents.length);
  return {
    model: dto.model,
    query: dto.query,
    documents: dto.documents,
    topN,
    returnDocuments: dto.return_documents === true || dto.return_documents === 'true',
    maxTokensPerDoc: dto.max_tokens_per_doc ?? undefined,
    priority: dto.priority ?? undefined,
    rankFields: dto.rank_fields ?? undefined,
    truncation: dto.truncation ?? undefined,
    parameters: dto.parameters ?? undefined,
    foreign,
    exact:
      bytes !== undefined && (hasLongNumbers(dto.documents) || hasLongNumbers(dto.parameters))
        ? exactOf(dto, bytes)
        : undefined,
    original: bytes === undefined || topN !== dto.top_n || hasNull(dto) ? undefined : { bytes, names },
  };
}

function foreignOptions(dto: CreateRerankDto, names: readonly string[]): ForeignOptions | undefined {
  let values: Partial<Record<RerankOption, unknown>> | undefined;
  for (const name of names) {
    if (!isForeign(name)) continue;
    const value: unknown = Reflect.get(dto, name) ?? undefined;
    if (value !== undefined) values = { ...values, [name]: value };
  }
  if (values?.top_k === undefined || (dto.top_n ?? dto.top_k) !== dto.top_k) {
    return values === undefined ? undefined : { values, understood: [] };
  }
  const { top_k: _read, ...others } = values;
  return { values: others, understood: ['top_k'] };
}

const FOREIGN: ReadonlySet<string> = new Set(FOREIGN_OPTIONS);

function isForeign(name: string): name is ForeignOption {
  return FOREIGN.has(name);
}

/** A provider may refuse a null. */
function hasNull(dto: CreateRerankDto): boolean {
  const values: readonly unknown[] = Object.values(dto);
  return values.includes(null);
}

/** The free-form values of the caller as it wrote them, where a double would change one, for example a 64-bit id. */
function exactOf({ parameters }: CreateRerankDto, bytes: Buffer): RerankRequest['exact'] {
  // The same JSON as the validated body.
  const body = readObject(parseLongNumbers(bytes), 'body');
  return {
    documents: readArray(body['documents'], 'documents').map((document, index) =>
      typeof document === 'string' ? document : readObject(document, `documents.${index}`),
    ),
    parameters:
      parameters === undefined || parameters === null ? undefined : readObject(body['parameters'], 'parameters'),
  };
}

/** What a client reads besides `results`. */
export interface AnswerForm {
  /** Of Cohere's API, in `meta`. */
  readonly version: '1' | '2';
  /** As in Voyage's API, whose SDKs read nothing else. */
  readonly hasData: boolean;
}

const VOYAGE_SDK = 'voyageai';

/** By the name of the SDK, or by the options that only Voyage's API has. */
export function answerFormOf(
  dto: CreateRerankDto,
  headers: IncomingHttpHeaders,
  version: AnswerForm['version'],
): AnswerForm {
  const hasData = dto.top_k !== undefined || dto.truncation !== undefined || headers['x-fern-sdk-name'] === VOYAGE_SDK;
  return { version, hasData };
}

/** The body of a `RerankResponse`. Written directly as text: creating an object first costs more. */
export function toRerankResponse(ranked: RankedRerank, { version, hasData }: AnswerForm): JsonText {
  const { request, outcome, id, provider } = ranked;
  const { searchUnits, totalTokens } = outcome;
  const documentOf = request.returnDocuments ? documentWriter(request) : undefined;
  const results = writeItems(ranked, documentOf);
  const data = hasData ? `,"data":[${writeItems(ranked, documentOf && textWriter(request, documentOf))}]` : '';
  const usage =
    jsonMember('search_units', searchUnits) +
    jsonMember('prompt_tokens', totalTokens) +
    jsonMember('total_tokens', totalTokens);
  const billed = jsonMember('search_units', searchUnits) + jsonMember('input_tokens', totalTokens);
  const members =
    jsonMember('object', 'list') +
    jsonMember('id', id) +
    `,"results":[${results}]${data}` +
    jsonMember('model', outcome.model ?? request.model) +
    jsonMember('provider', provider) +
    (usage === '' ? '' : `,"usage":{${usage.slice(1)}}`) +
    `,"meta":{"api_version":{"version":"${version}"}${billed === '' ? '' : `,"billed_units":{${billed.slice(1)}}`}}`;
  // Each member begins with a comma.
  return new JsonText(`{${members.slice(1)}}`);
}

type DocumentWriter = (index: number) => string;

function writeItems({ results }: RankedRerank, documentOf: DocumentWriter | undefined): string {
  let items = '';
  for (const { index, relevanceScore } of results) {
    const document = documentOf === undefined ? '' : `,"document":${documentOf(index)}`;
    items += `,{"index":${index},"relevance_score":${relevanceScore}${document}}`;
  }
  return items.slice(1);
}

/** Documents come from the request and never from the provider, so that the response is the same for every provider. */
function documentWriter({ documents, exact }: RerankRequest): DocumentWriter {
  const [all, stringify] = exact === undefined ? [documents, JSON.stringify] : [exact.documents, stringifyLongNumbers];
  return (index) => {
    const document = all[index];
    return stringify(typeof document === 'string' ? { text: document } : { ...document });
  };
}

/** A document that is text, or has nothing else, is a string at Voyage. */
function textWriter({ documents }: RerankRequest, documentOf: DocumentWriter): DocumentWriter {
  return (index) => {
    const document = documents[index];
    return typeof document === 'string' ? jsonString(document) : documentOf(index);
  };
}
