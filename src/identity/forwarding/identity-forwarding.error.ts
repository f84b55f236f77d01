import { GatewayError } from '../../common/errors/gateway.error.js';

/** Why an identity cannot be forwarded, and what is missing. */
const HINTS = {
  no_signing_key: 'JWT_PRIVATE_KEY is not set.',
  signing_failed: 'Signing with JWT_PRIVATE_KEY failed.',
  no_token:
    'The caller has no token that jwt_validation has validated, or it was issued for the gateway and jwt_validation.audience does not name it: bearer forwards no other. With allow_anonymous, the server is called without one.',
  too_large: 'The identity is larger than 8 KiB: name fewer claims in include_claims.',
  refused_as_too_large:
    'The MCP server refuses the identity as too large (431): name fewer claims in include_claims, or raise the limit of the server.',
  subject_too_long: 'The claim that names the user has more than 255 characters.',
  not_sendable: 'The identity has characters that a header cannot hold.',
  unknown_method: 'This version of the gateway does not know the method of user_identity_forwarding.',
} as const;

export type ForwardingFailure = keyof typeof HINTS;

interface FailureDetails {
  /** The claim that is in the way. */
  readonly claim?: string;
  readonly cause?: unknown;
}

/** Identity forwarding is configured and fails. The request fails too: the server must never miss an identity by accident. */
export class IdentityForwardingError extends GatewayError {
  constructor(
    readonly failure: ForwardingFailure,
    { claim, cause }: FailureDetails = {},
  ) {
    const hint = claim === undefined ? HINTS[failure] : `${claim}: ${HINTS[failure]}`;
    super('identity_forwarding_failed', { reason: `${failure}: ${hint}`, hint, cause });
    this.name = 'IdentityForwardingError';
  }
}
