import type { ExhaustedLimit } from './exhausted-limit.js';
import type { ErrorDetail, GatewayError } from './gateway.error.js';

/** The body of every error answer on a JSON route. */
export interface ErrorEnvelope {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly code: string;
    readonly param: string | null;
    readonly source: string;
    readonly details?: readonly ErrorDetail[] | readonly ExhaustedLimit[];
  };
}

export function toErrorEnvelope(error: GatewayError): ErrorEnvelope {
  const details = error.details ?? error.limits;
  return {
    error: {
      message: error.message,
      type: error.type,
      code: error.code,
      param: error.param,
      source: error.source,
      ...(details ? { details } : {}),
    },
  };
}
