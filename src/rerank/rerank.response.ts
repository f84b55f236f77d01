import { ApiProperty } from '@nestjs/swagger';

export class RerankUsageResponse {
  /** Only for providers that bill in search units. */
  readonly search_units?: number;
  /** Only for providers that bill by token. */
  readonly total_tokens?: number;
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

export class RerankResponse {
  readonly object: 'list';
  /** Id of the request at the provider, or one made by the gateway. */
  readonly id: string;
  /** By score, descending; equal scores by index. */
  readonly results: RerankResultResponse[];
  /** The model that answered. */
  readonly model: string;
  /** Slug of the provider that answered. */
  readonly provider: string;
  readonly usage?: RerankUsageResponse;
}
