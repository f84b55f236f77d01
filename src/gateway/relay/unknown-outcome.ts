import { DO_NOT_RETRY, GatewayError } from '../../common/errors/gateway.error.js';
import { UpstreamFailure } from '../../upstream/upstream.types.js';
import type { RelayRoute } from './relay-route.js';

/**
 * The error of a call that may have done its work although no answer came, with a header that keeps SDKs from doing it, and
 * paying for it, again. Every other error stays as it is.
 */
export function withUnknownOutcome(error: unknown, { method }: RelayRoute): unknown {
  // GET and DELETE come to the same when they are repeated (RFC 9110, section 9.2.2).
  if (method !== 'POST' || !(error instanceof GatewayError) || !isOutcomeUnknown(error)) return error;
  return error.withHeaders(DO_NOT_RETRY);
}

function isOutcomeUnknown({ code, cause }: GatewayError): boolean {
  return code === 'provider_invalid_response' || (cause instanceof UpstreamFailure && cause.wasSent);
}
