import { ApiProperty } from '@nestjs/swagger';
import { IsInt, IsNumber, IsString, IsUUID, Length, Max, MaxLength, Min } from 'class-validator';
import { Nested } from '../../common/validation/bounded-fields.js';
import { IsMetadata } from '../../common/validation/is-metadata.decorator.js';
import { IsStorable } from '../../common/validation/is-storable.decorator.js';
import { Optional } from '../../common/validation/optional.decorator.js';
import { IsQuantities } from './is-quantities.decorator.js';
import { MAX_AMOUNT } from './usage-limit.dto.js';

export class UsageEstimateDto {
  /** US dollars. Without it, `quantities` are priced where the call names its provider (or virtual key) and its model. */
  @Optional()
  @ApiProperty({ format: 'double' })
  @IsNumber()
  @Min(0)
  @Max(MAX_AMOUNT)
  readonly cost?: number;

  /** Tokens of all kinds together. */
  @Optional()
  @IsInt()
  @Min(0)
  @Max(MAX_AMOUNT)
  readonly tokens?: number;

  /**
   * Instead of `tokens`: the quantity of each unit. Limits in tokens count their sum; limits in US dollars what they cost by the
   * price book, at the prices of batches for the endpoint `batches`. `request` is the number of calls, one by default.
   */
  @Optional()
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'integer', format: 'int64' },
    example: { input: 500, output: 200 },
  })
  @IsQuantities()
  readonly quantities?: Readonly<Record<string, number>>;
}

/** A call as policies would see it. The call has no value for an absent field. */
export class SimulateUsageDto {
  /** Id of an API key; its enforced metadata apply. A caller of one workspace can name its own keys. */
  @Optional()
  @IsString()
  @Length(1, 255)
  @IsStorable()
  readonly api_key?: string;

  /** Id or slug of a workspace; its default metadata apply. A key of one workspace always uses its own. */
  @Optional()
  @IsString()
  @Length(1, 255)
  @IsStorable()
  readonly workspace_id?: string;

  /** Slug of a virtual key. A caller of one workspace can name those that it can use. */
  @Optional()
  @IsString()
  @MaxLength(255)
  @IsStorable()
  readonly virtual_key?: string;

  /** The model as the caller writes it: the name of a model route, say. */
  @Optional()
  @IsString()
  @MaxLength(255)
  @IsStorable()
  readonly model_requested?: string;

  /** The provider of the call. */
  @Optional()
  @IsString()
  @MaxLength(64)
  @IsStorable()
  readonly provider?: string;

  /**
   * The model of the call.
   * @example "rerank-v3.5"
   */
  @Optional()
  @IsString()
  @MaxLength(512)
  @IsStorable()
  readonly model?: string;

  /** The operation, for example `rerank`. */
  @Optional()
  @IsString()
  @MaxLength(64)
  @IsStorable()
  readonly endpoint?: string;

  /** The slug of an MCP server. */
  @Optional()
  @IsString()
  @MaxLength(255)
  @IsStorable()
  readonly mcp_server?: string;

  /** The name of a tool of the MCP server. */
  @Optional()
  @IsString()
  @MaxLength(255)
  @IsStorable()
  readonly mcp_tool?: string;

  /**
   * Metadata that the client would send. It overrides the workspace's defaults, and the API key's enforced metadata
   * override it.
   */
  @Optional()
  @IsMetadata()
  readonly metadata?: Record<string, string>;

  /** The usage of the call; none by default. */
  @Optional()
  @Nested(() => UsageEstimateDto)
  readonly estimate?: UsageEstimateDto;

  /** Required with an administrator's token; with an API key it can only be the key's own. */
  @Optional()
  @IsUUID()
  readonly organisation_id?: string;
}
