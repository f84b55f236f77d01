import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import { ErrorDetailResponse, ExhaustedLimitResponse } from '../common/errors/error.response.js';

/** The body of an error of the gateway, in the form of Bedrock's API. Errors of the provider pass as they came. */
@ApiExtraModels(ErrorDetailResponse, ExhaustedLimitResponse)
export class BedrockErrorResponse {
  /** A sentence for people; it may change. */
  readonly message: string;
  /** What Bedrock calls such an error, as in the header `x-amzn-errortype`: `ValidationException`. */
  readonly code: string;
  /** Stable code from the table of errors, e.g. `validation_failed`. */
  readonly error_code: string;
  /** The first field that is wrong. */
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
