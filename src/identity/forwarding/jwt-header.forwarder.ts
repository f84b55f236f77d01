import type { MaybePromise } from '../../common/maybe-promise.js';
import { WeakMemo } from '../../common/cache/weak-memo.js';
import type { McpCaller } from '../claims/mcp-caller.js';
import { selectClaims } from '../claims/select-claims.js';
import type { UserIdentityForwarding } from '../config/identity-config.js';
import { IdentityTokenCache } from '../jwt/identity-token.cache.js';
import type { IdentityToken, IdentityTokenRequest, TokenOrigin } from '../jwt/identity-token.js';
import type { SigningKeys } from '../jwt/signing-keys.js';
import type { IdentityForwarder } from './identity-forwarder.js';
import { IdentityForwardingError } from './identity-forwarding.error.js';

const DEFAULT_EXPIRY_SECONDS = 300;

/** Forwards the claims in a JWT that the gateway signs. */
export class JwtHeaderForwarder implements IdentityForwarder {
  readonly method = 'jwt_header';

  private readonly requests = new WeakMemo<McpCaller, UserIdentityForwarding, IdentityTokenRequest>();

  constructor(
    private readonly keys: SigningKeys,
    private readonly tokens: IdentityTokenCache = new IdentityTokenCache(),
  ) {}

  valueFor(caller: McpCaller, forwarding: UserIdentityForwarding, now: Date): MaybePromise<string> {
    const key = this.keys.current;
    // Never the unsigned claims instead: the server would trust them as signed.
    if (key === undefined) throw new IdentityForwardingError('no_signing_key');
    const request = this.requests.of(caller, forwarding, () => toRequest(caller, forwarding));
    const token = this.tokens.get(request, key, now);
    return token instanceof Promise ? token.then(textOf, failed) : token.text;
  }
}

function toRequest(caller: McpCaller, forwarding: UserIdentityForwarding): IdentityTokenRequest {
  return {
    claims: selectClaims(caller.claims, forwarding.include_claims),
    expirySeconds: forwarding.jwt_expiry_seconds ?? DEFAULT_EXPIRY_SECONDS,
    audience: forwarding.audience,
    origin: forwarding.jwt_audience === true ? originOf(caller) : undefined,
  };
}

function originOf({ kind, principal }: McpCaller): TokenOrigin {
  return { org: principal.organisationId, auth_method: kind === 'external' ? 'external_idp' : kind };
}

function textOf({ text }: IdentityToken): string {
  return text;
}

function failed(cause: unknown): never {
  throw new IdentityForwardingError('signing_failed', { cause });
}
