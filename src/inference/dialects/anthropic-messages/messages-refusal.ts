import type { GatewayError } from '../../../common/errors/gateway.error.js';

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  412: 'billing_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** Anthropic's type of an error with this status. */
export function messagesErrorType(status: number): string {
  return TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}

/**
 * An error of the gateway in the format of Anthropic's API, with the gateway's own code in `details`.
 * Source: https://docs.anthropic.com/en/api/errors, read 2026-11-26.
 */
export function toMessagesError(error: GatewayError, requestId?: string): object {
  const { status, code, param, source, message, limits, details } = error;
  const type = messagesErrorType(status);
  const more = limits ?? details;
  return {
    type: 'error',
    error: {
      type,
      message,
      details: { error_code: code, param, source, ...(more === undefined ? {} : { problems: more }) },
    },
    request_id: requestId ?? null,
  };
}

/** The error as an event, which ends a stream. */
export function toMessagesErrorEvent(error: GatewayError, requestId?: string): string {
  return `event: error\ndata: ${JSON.stringify(toMessagesError(error, requestId))}\n\n`;
}
