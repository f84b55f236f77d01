import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import type { ErrorSource } from './error-codes.js';
import type { ExhaustedLimit } from './gateway.error.js';

/** One broken rule of a request. */
export class ErrorDetailResponse {
  /** Path of the field as it was sent, e.g. `documents.3.text`. */
  readonly param: string | null;
  /** The broken rule of the field. */
  readonly message: string;
}

/** A usage limit that the call does not fit into. Amounts are in the policy's unit: US dollars or tokens. */
export class ExhaustedLimitResponse implements ExhaustedLimit {
  /** The id of the usage limit. */
  readonly policy_id: string;
  /** The name of the usage limit. */
  @ApiProperty({ type: 'string', nullable: true })
  readonly name: string | null;
  /** The unit of the limit: US dollars or tokens. */
  @ApiProperty({ enum: ['cost', 'tokens'] })
  readonly type: 'cost' | 'tokens';
  /** The group that the call counts in. */
  readonly value_key: string;
  /** The most that the group may use in a period. */
  @ApiProperty({ format: 'double' })
  readonly credit_limit: number;
  /** The usage of the group in this period. */
  @ApiProperty({ format: 'double' })
  readonly current_usage: number;
  /** The expected usage of calls in flight. */
  @ApiProperty({ format: 'double' })
  readonly reserved: number;
  /** Unix seconds; null: never. */
  readonly next_reset_at: number | null;
}

@ApiExtraModels(ErrorDetailResponse, ExhaustedLimitResponse)
export class ErrorBodyResponse {
  /** A sentence for people; it may change. */
  readonly message: string;
  /** Family of the error, e.g. `invalid_request_error`. */
  readonly type: string;
  /** Stable code from the table of errors, e.g. `validation_failed`. */
  readonly code: string;
  /** The first field that is wrong. */
  readonly param: string | null;
  /** Where the reason lies: in the gateway or the request, or with the provider. */
  @ApiProperty({ enum: ['gateway', 'provider'] })
  readonly source: ErrorSource;
  /** The provider's own code of the error, e.g. `insufficient_quota`; absent where it names none. */
  readonly provider_code?: string;
  /** The provider's own type of the error; absent where it names none. */
  readonly provider_type?: string;
  /** The broken rules, at most 20, for `validation_failed`; all limits in the way, for `usage_limit_exceeded` and `usage_limit_contended`. */
  @ApiPropertyOptional({
    type: 'array',
    items: { oneOf: [{ $ref: getSchemaPath(ErrorDetailResponse) }, { $ref: getSchemaPath(ExhaustedLimitResponse) }] },
  })
  readonly details?: (ErrorDetailResponse | ExhaustedLimitResponse)[];
}

/** The body of every error answer. */
export class ErrorResponse {
  readonly error: ErrorBodyResponse;
}
