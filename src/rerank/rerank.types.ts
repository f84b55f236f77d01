import type { JsonObject } from '../common/json/read.js';
import type { UsageEstimate } from '../gateway/billable-use.js';
import type { ProviderSlug, ProviderRequest } from '../upstream/providers/provider.types.js';

/** Options of a rerank request that not every provider has. */
export const RERANK_OPTIONS = ['max_tokens_per_doc', 'priority', 'rank_fields', 'truncation', 'parameters'] as const;

/**
 * Options of other rerank APIs, which their clients send here too: `top_k` is another name for `top_n`. Cohere v1,
 * Voyage, TEI, vLLM, Xinference, SiliconFlow, DashScope.
 */
export const FOREIGN_OPTIONS = [
  'top_k',
  'max_chunks_per_doc',
  'overlap_tokens',
  'truncate',
  'truncation_direction',
  'truncate_prompt_tokens',
  'input_type',
  'instruct',
  'instruction',
  'user',
  'return_len',
  'return_text',
  'raw_scores',
] as const;

export type ForeignOption = (typeof FOREIGN_OPTIONS)[number];
export type RerankOption = (typeof RERANK_OPTIONS)[number] | ForeignOption;

/** A document as the caller sent it. Objects have a string `text`, except where `rank_fields` names other fields. */
export type RerankDocument = string | JsonObject;

/** A validated request. Options that the provider does not have are removed. */
export interface RerankRequest {
  readonly model: string;
  readonly query: string;
  readonly documents: readonly RerankDocument[];
  /** Between 1 and the number of documents; undefined when the caller wants all of them. */
  readonly topN: number | undefined;
  readonly returnDocuments: boolean;
  readonly maxTokensPerDoc: number | undefined;
  readonly priority: number | undefined;
  readonly rankFields: readonly string[] | undefined;
  readonly truncation: boolean | undefined;
  readonly parameters: JsonObject | undefined;
  /** Options of other rerank APIs, as the caller wrote them; undefined without any. */
  readonly foreign: ForeignOptions | undefined;
  /**
   * Documents and parameters with exact whole numbers beyond 2^53, for `stringifyLongNumbers`; undefined without such
   * numbers.
   */
  readonly exact: Pick<RerankRequest, 'documents' | 'parameters'> | undefined;
  /** The caller's body; undefined when this request differs from it. */
  readonly original: OriginalBody | undefined;
}

export interface ForeignOptions {
  /** Left for the provider, which may not have them. */
  readonly values: Readonly<Partial<Record<RerankOption, unknown>>>;
  /** Read by the gateway itself. */
  readonly understood: readonly RerankOption[];
}

/** The JSON of the request body. */
export interface OriginalBody {
  readonly bytes: Buffer;
  /** All its fields, including those that the provider does not have. */
  readonly names: readonly string[];
}

export interface RerankScore {
  /** Index into the caller's documents. */
  readonly index: number;
  readonly relevanceScore: number;
}

export interface RerankOutcome {
  /** In any order; the service sorts. */
  readonly scores: readonly RerankScore[];
  /** The model that answered; undefined when the provider does not report it. Then the requested model is returned. */
  readonly model: string | undefined;
  /** The provider's id of the request, when it gives one. */
  readonly id: string | undefined;
  /** Billed search units, a plausible whole number. Only for providers that bill in search units. */
  readonly searchUnits: number | undefined;
  /** Billed tokens, a plausible whole number. Only for providers that bill by token. */
  readonly totalTokens: number | undefined;
  /** The usage is computed by the provider's rules, since it reports none. */
  readonly isUsageComputed?: boolean;
}

interface RerankProviderBase {
  readonly slug: ProviderSlug;
  readonly options: ReadonlySet<RerankOption>;
  /** Documented maximum of documents in one request; more is a 400 that names it. */
  readonly maxDocuments: number;
  /** Never throws: a request that the provider would refuse has an estimate too. */
  estimate(request: RerankRequest): UsageEstimate;
}

/** A provider behind HTTP: two pure translations. Both throw GatewayError or UnexpectedShapeError. */
export interface RemoteRerankProvider extends RerankProviderBase {
  readonly kind: 'remote';
  /** `options` of the virtual key, for a provider whose servers differ. */
  toUpstream(request: RerankRequest, options?: object): ProviderRequest;
  /** `answer` is the parsed body of a 2xx answer. */
  fromUpstream(answer: unknown, request: RerankRequest): RerankOutcome;
  /** Where an answer says that it goes on (paging). */
  nextPage?(answer: unknown, request: RerankRequest): NextPage | undefined;
}

export interface NextPage {
  /** The provider's name for the page. */
  readonly token: string;
  readonly request: ProviderRequest;
}

/** A provider inside the gateway. */
export interface InProcessRerankProvider extends RerankProviderBase {
  readonly kind: 'in_process';
  rerank(request: RerankRequest): Promise<RerankOutcome>;
}

export type RerankProvider = RemoteRerankProvider | InProcessRerankProvider;

/** A finished rerank: scores sorted and cut to what the caller asked for. */
export interface RankedRerank {
  readonly request: RerankRequest;
  readonly outcome: RerankOutcome;
  readonly id: string;
  readonly provider: ProviderSlug;
  readonly results: readonly RerankScore[];
}
