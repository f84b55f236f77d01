import type { GatewayError } from '../../../common/errors/gateway.error.js';
import { writeAwsEvent } from '../../../upstream/streams/aws-events.js';

const EXCEPTIONS: Readonly<Record<number, string>> = {
  401: 'AccessDeniedException',
  402: 'ServiceQuotaExceededException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  408: 'ModelTimeoutException',
  // AWS's clients do not retry this one.
  412: 'ServiceQuotaExceededException',
  429: 'ThrottlingException',
  500: 'InternalServerException',
  503: 'ServiceUnavailableException',
  504: 'ModelTimeoutException',
};

/**
 * Bedrock's name of an error with this status. Source: its API reference, common errors and those of Converse, read
 * 2026-11-28.
 */
function exceptionOf(status: number): string {
  return EXCEPTIONS[status] ?? (status >= 500 ? 'ModelErrorException' : 'ValidationException');
}

/** AWS's clients read the type of an error from this header. */
export function bedrockErrorHeaders({ status }: GatewayError): Readonly<Record<string, string>> {
  return { 'x-amzn-errortype': exceptionOf(status) };
}

/** An error of the gateway in the format of Bedrock's API, with the gateway's own code beside it. */
export function toBedrockError(error: GatewayError): object {
  const { message, code, param, source, limits, details } = error;
  const more = limits ?? details;
  const own = { code, param, source, ...(more && { details: more }) };
  return { message, code: exceptionOf(error.status), error: own };
}

/** The error as an event of a binary stream. AWS has five such events. */
export function toBedrockErrorFrame(error: GatewayError): Buffer {
  const payload = Buffer.from(JSON.stringify({ message: error.message, error_code: error.code }));
  return writeAwsEvent({ kind: 'exception', name: streamExceptionOf(error.status), payload });
}

function streamExceptionOf(status: number): string {
  if (status === 429) return 'throttlingException';
  if (status < 500) return 'validationException';
  return status === 503 ? 'serviceUnavailableException' : 'modelStreamErrorException';
}
