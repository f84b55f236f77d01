import type { ErrorDetail, ExhaustedLimit, GatewayError } from './gateway.error.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** Set by routes whose protocol has its own error format. */
    errorForm?: (error: GatewayError) => object;
    /** Set once an event stream has begun that can carry an error event. */
    errorEvent?: (error: GatewayError) => string | Buffer;
  }
}

/** The body of every error response on a JSON route. */
export interface ErrorEnvelope {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly code: string;
    readonly param: string | null;
    readonly source: string;
    /** As the provider calls the error. */
    readonly provider_code?: string;
    readonly provider_type?: string;
    readonly details?: readonly ErrorDetail[] | readonly ExhaustedLimit[];
  };
}

export function toErrorEnvelope(error: GatewayError): ErrorEnvelope {
  const details = error.details ?? error.limits;
  const { code, type } = error.provider ?? {};
  return {
    error: {
      message: error.message,
      type: error.type,
      code: error.code,
      param: error.param,
      source: error.source,
      ...(code === undefined ? {} : { provider_code: code }),
      ...(type === undefined ? {} : { provider_type: type }),
      ...(details ? { details } : {}),
    },
  };
}

/** The envelope as a server-sent event. OpenAI's SDKs throw it as an error. */
export function toErrorEvent(error: GatewayError): string {
  return `event: error\ndata: ${JSON.stringify(toErrorEnvelope(error))}\n\n`;
}
