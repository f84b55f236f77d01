import { DO_NOT_RETRY, GatewayError } from '../../common/errors/gateway.error.js';
import { UpstreamFailure } from '../../upstream/upstream.types.js';
import { methodOf, type RelayRoute } from './relay-route.js';

/**
 * Adds `x-should-retry: false` to the error of a call that may have succeeded without a response, so that SDKs do not
 * repeat and pay for it again. Other errors stay unchanged.
 */
export function withUnknownOutcome(error: unknown, route: RelayRoute): unknown {
  // GET and DELETE are idempotent (RFC 9110, section 9.2.2).
  if (methodOf(route) !== 'POST' || !(error instanceof GatewayError) || !isOutcomeUnknown(error)) return error;
  return error.withHeaders(DO_NOT_RETRY);
}

function isOutcomeUnknown({ code, cause, provider }: GatewayError): boolean {
  if (code === 'provider_invalid_response' || provider?.isForeignPage === true) return true;
  return cause instanceof UpstreamFailure && cause.wasSent;
}
