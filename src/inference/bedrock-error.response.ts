import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import { ErrorDetailResponse, ExhaustedLimitResponse } from '../common/errors/error.response.js';

/** The gateway's own words for the error. */
@ApiExtraModels(ErrorDetailResponse, ExhaustedLimitResponse)
export class BedrockErrorDetailsResponse {
  /** Stable code from the table of errors, e.g. `validation_failed`. */
  readonly code: string;
  /** The first field that is wrong. */
  @ApiProperty({ type: String, nullable: true })
  readonly param: string | null;
  /** Where the reason lies: in the gateway or the request, or with the provider. */
  @ApiProperty({ enum: ['gateway', 'provider'] })
  readonly source: string;
  /** The broken rules, at most 20, or the limits in the way. */
  @ApiPropertyOptional({
    type: 'array',
    items: { oneOf: [{ $ref: getSchemaPath(ErrorDetailResponse) }, { $ref: getSchemaPath(ExhaustedLimitResponse) }] },
  })
  readonly details?: (ErrorDetailResponse | ExhaustedLimitResponse)[];
}

/** The body of an error of the gateway, in the form of Bedrock's API. Errors of the provider pass as they came. */
export class BedrockErrorResponse {
  /** A sentence for people; it may change. */
  readonly message: string;
  /** What Bedrock calls such an error, as in the header `x-amzn-errortype`: `ValidationException`. */
  readonly code: string;
  /** The gateway's own words for the error. */
  readonly error: BedrockErrorDetailsResponse;
}
