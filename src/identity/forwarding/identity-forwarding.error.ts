import { GatewayError } from '../../common/errors/gateway.error.js';

export type ForwardingFailure = 'no_signing_key' | 'signing_failed' | 'too_large' | 'not_sendable' | 'unknown_method';

/** Identity forwarding is configured and fails. The request fails too: the server must never miss an identity by accident. */
export class IdentityForwardingError extends GatewayError {
  constructor(
    readonly failure: ForwardingFailure,
    cause?: unknown,
  ) {
    super('identity_forwarding_failed', { reason: failure, cause });
    this.name = 'IdentityForwardingError';
  }
}
