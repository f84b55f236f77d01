/** One broken rule of a request. */
export class ErrorDetailResponse {
  /** Path of the field as it was sent, e.g. `documents.3.text`. */
  readonly param: string | null;
  readonly message: string;
}

export class ErrorBodyResponse {
  readonly message: string;
  /** Family of the error, e.g. `invalid_request_error`. */
  readonly type: string;
  /** Stable code from the table of errors, e.g. `validation_failed`. */
  readonly code: string;
  /** The first field that is wrong. */
  readonly param: string | null;
  /** `gateway` or `provider`. */
  readonly source: string;
  /** All broken rules, for `validation_failed`. */
  readonly details?: ErrorDetailResponse[];
}

/** The body of every error answer. */
export class ErrorResponse {
  readonly error: ErrorBodyResponse;
}
