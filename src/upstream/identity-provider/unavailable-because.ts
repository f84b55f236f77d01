import { isNativeError } from 'node:util/types';
import { errors } from 'jose';
import { type GatewayError, identityProviderUnavailable } from '../../common/errors/gateway.error.js';
import { UpstreamFailure } from '../upstream.types.js';
import { UnexpectedStatusError } from './unexpected-status.error.js';

/**
 * The error for `what` did not work. The log contains the reason, never the provider's words, which may quote the
 * request.
 */
export function unavailableBecause(what: string, cause: unknown): GatewayError {
  return identityProviderUnavailable(`${what}: ${explain(cause)}`, cause);
}

function explain(cause: unknown): string {
  if (cause instanceof UpstreamFailure) return `${cause.kind}: ${cause.message}`;
  if (cause instanceof UnexpectedStatusError || cause instanceof errors.JWKSInvalid) return cause.message;
  return isNativeError(cause) && cause.name === 'SyntaxError' ? 'the answer is not JSON' : 'unexpected';
}
