import type { ErrorDetail, ExhaustedLimit, GatewayError } from './gateway.error.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** Set by routes whose protocol has a form of its own for errors. */
    errorForm?: (error: GatewayError) => object;
    /** Set when a stream of events has begun to which another one may be added. */
    errorEvent?: (error: GatewayError) => string;
  }
}

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

/** The envelope as an event: OpenAI's SDKs throw what it says. */
export function toErrorEvent(error: GatewayError): string {
  return `event: error\ndata: ${JSON.stringify(toErrorEnvelope(error))}\n\n`;
}
