import { GatewayError } from './gateway.error.js';

const RETRY_AFTER_SECONDS = 5;

export function identityProviderUnavailable(reason: string, cause?: unknown): GatewayError {
  return new GatewayError('identity_provider_unavailable', {
    reason,
    cause,
    // Not 401: that would send clients off to log in anew.
    headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
  });
}
