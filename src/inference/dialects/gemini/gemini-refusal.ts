import type { GatewayError } from '../../../common/errors/gateway.error.js';

const STATUSES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  412: 'FAILED_PRECONDITION',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  504: 'DEADLINE_EXCEEDED',
};

/**
 * An error of the gateway in the format of Google's APIs, with the gateway's own code as the reason.
 * Source: https://google.aip.dev/193, read 2026-11-28.
 */
export function toGeminiError(error: GatewayError): object {
  const { status, message, code, param, source } = error;
  const name = STATUSES[status] ?? (status >= 500 ? 'UNAVAILABLE' : 'INVALID_ARGUMENT');
  const metadata = { source, ...(param === null ? {} : { param }) };
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: code, domain: 'tollgate', metadata };
  return { error: { code: status, message, status: name, details: [info] } };
}

/** The error as an event, which ends a stream. */
export function toGeminiErrorEvent(error: GatewayError): string {
  return `data: ${JSON.stringify(toGeminiError(error))}\n\n`;
}
