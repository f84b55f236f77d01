import { ApiProperty } from '@nestjs/swagger';

export class RerankUsageResponse {
  /** Only for providers that bill in search units. */
  readonly search_units?: number;
  /** The same as `total_tokens`, for clients that read OpenAI's usage. */
  readonly prompt_tokens?: number;
  /** Only for providers that bill by token. */
  readonly total_tokens?: number;
}

export class RerankApiVersionResponse {
  /**
   * `2` at `/v2/rerank`, otherwise `1`.
   * @example "1"
   */
  readonly version: string;
}

export class RerankBilledUnitsResponse {
  /** Only for providers that bill in search units. */
  readonly search_units?: number;
  /** Only for providers that bill by token. */
  readonly input_tokens?: number;
}

/** As in Cohere's API, for its clients. */
export class RerankMetaResponse {
  readonly api_version: RerankApiVersionResponse;
  /** Absent where the provider names no figure, as some self-hosted servers do. */
  readonly billed_units?: RerankBilledUnitsResponse;
}

export class RerankResultResponse {
  /** Index into the documents of the request. */
  readonly index: number;
  /** How well the document fits the query. The range differs between providers. */
  @ApiProperty({ format: 'double' })
  readonly relevance_score: number;
  /** The document as it was sent (strings as `{text}`); only with `return_documents`. */
  readonly document?: Readonly<Record<string, unknown>>;
}

export class RerankDataResponse {
  /** Index into the documents of the request. */
  readonly index: number;
  /** How well the document fits the query. The range differs between providers. */
  @ApiProperty({ format: 'double' })
  readonly relevance_score: number;
  /** The document as it was sent; only with `return_documents`. */
  @ApiProperty({ oneOf: [{ type: 'string' }, { type: 'object', additionalProperties: true }], required: false })
  readonly document?: string | Readonly<Record<string, unknown>>;
}

export class RerankResponse {
  readonly object: 'list';
  /** Id of the request at the provider, or one made by the gateway. */
  readonly id: string;
  /** The results, sorted by score in descending order; equal scores are sorted by index. */
  readonly results: RerankResultResponse[];
  /** The model that answered. */
  readonly model: string;
  /** Slug of the provider that answered. */
  readonly provider: string;
  readonly usage?: RerankUsageResponse;
  readonly meta: RerankMetaResponse;
  /** The results again, with text documents as strings; only for requests with `top_k` or `truncation`, and Voyage's SDK. */
  readonly data?: RerankDataResponse[];
}
