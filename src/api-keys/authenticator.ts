import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { Principal } from '../access/principal.js';
import type { Scope } from '../access/scopes.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { type AdminToken, AdminTokenVerifier } from './admin-token.verifier.js';
import { readCredentials } from './credentials.js';
import { PrincipalCache } from './principal-cache.js';
import { RateLimiter } from './rate-limiter.js';

/** Who calls. A key names its tenant; which of its tenants an administrator acts for, the request says later. */
export type Caller =
  | { readonly kind: 'api_key'; readonly scopes: ReadonlySet<Scope>; readonly principal: Principal }
  | { readonly kind: 'admin_token'; readonly scopes: ReadonlySet<Scope>; readonly token: AdminToken };

@Injectable()
export class Authenticator {
  constructor(
    private readonly cache: PrincipalCache,
    private readonly tokens: AdminTokenVerifier,
    private readonly rateLimiter: RateLimiter,
  ) {}

  /** @throws GatewayError `api_key_invalid`, `token_invalid`, `identity_provider_unavailable`, `rate_limited` */
  async authenticate(request: Request, now: Date): Promise<Caller> {
    const credentials = readCredentials(request.headers);
    switch (credentials.kind) {
      case 'api_key': {
        const principal = await this.ownerOf(credentials.key, now);
        return { kind: 'api_key', scopes: principal.scopes, principal };
      }
      case 'token': {
        const token = await this.tokens.verify(credentials.token);
        return { kind: 'admin_token', scopes: token.scopes, token };
      }
      case 'none':
        throw keyInvalid('missing');
    }
  }

  /**
   * The owner of a gateway key, for callers who bring it in their own way. Counts one request.
   * @throws GatewayError `api_key_invalid`, `rate_limited`
   */
  async ownerOf(key: string, now: Date): Promise<Principal> {
    const principal = await this.knownOwnerOf(key, now);
    if (principal.rateLimits.length > 0) await this.rateLimiter.consume(principal);
    return principal;
  }

  /**
   * The same for a request that was counted already.
   * @throws GatewayError `api_key_invalid`
   */
  async knownOwnerOf(key: string, now: Date): Promise<Principal> {
    const answer = await this.cache.find(key, now.getTime());
    if ('refusal' in answer) throw keyInvalid(answer.refusal);
    return answer.principal;
  }
}

function keyInvalid(reason: string): GatewayError {
  return new GatewayError('api_key_invalid', { reason, headers: { 'www-authenticate': 'Bearer realm="tollgate"' } });
}
