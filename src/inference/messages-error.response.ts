import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import { ErrorDetailResponse, ExhaustedLimitResponse } from '../common/errors/error.response.js';

/** The gateway's own words for the error. */
@ApiExtraModels(ErrorDetailResponse, ExhaustedLimitResponse)
export class MessagesErrorDetailsResponse {
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
  readonly problems?: (ErrorDetailResponse | ExhaustedLimitResponse)[];
}

export class MessagesErrorBodyResponse {
  /** Anthropic's family of the error, e.g. `invalid_request_error`. */
  readonly type: string;
  /** A sentence for people; it may change. */
  readonly message: string;
  /** The gateway's own words for the error. */
  readonly details: MessagesErrorDetailsResponse;
}

/** The body of an error of the gateway, in the form of Anthropic's API. Errors of the provider pass as they came. */
export class MessagesErrorResponse {
  /** Always `error`. */
  @ApiProperty({ enum: ['error'] })
  readonly type: string;
  /** What went wrong. */
  readonly error: MessagesErrorBodyResponse;
  /** Id of the request, as in `x-request-id`. */
  @ApiProperty({ type: String, nullable: true })
  readonly request_id: string | null;
}
