import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { Principal } from '../access/principal.js';
import type { Scope } from '../access/scopes.js';
import { type MaybePromise, chain } from '../common/maybe-promise.js';
import { type AdminToken, AdminTokenVerifier } from './admin-token.verifier.js';
import { keyInvalid, readCredentials } from './credentials.js';
import { type KeyAnswer, PrincipalCache } from './principal.cache.js';
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
  authenticate(request: Request, now: Date): MaybePromise<Caller> {
    const credentials = readCredentials(request.headers);
    switch (credentials.kind) {
      case 'api_key':
        return chain(this.ownerOf(credentials.key, now), toKeyCaller);
      case 'token':
        return this.tokens.verify(credentials.token).then(toTokenCaller);
      case 'none':
        throw keyInvalid('missing');
    }
  }

  /**
   * The owner of a gateway key, for callers who bring it in their own way. Counts one request.
   * @throws GatewayError `api_key_invalid`, `rate_limited`
   */
  ownerOf(key: string, now: Date): MaybePromise<Principal> {
    return chain(this.cache.find(key, now.getTime()), (answer) => {
      const principal = toOwner(answer);
      return principal.rateLimits.length === 0 ? principal : this.rateLimiter.consume(principal).then(() => principal);
    });
  }

  /**
   * The same for a request that was counted already.
   * @throws GatewayError `api_key_invalid`
   */
  knownOwnerOf(key: string, now: Date): MaybePromise<Principal> {
    return chain(this.cache.find(key, now.getTime()), toOwner);
  }
}

function toOwner(answer: KeyAnswer): Principal {
  if ('refusal' in answer) throw keyInvalid(answer.refusal);
  return answer.principal;
}

function toKeyCaller(principal: Principal): Caller {
  return { kind: 'api_key', scopes: principal.scopes, principal };
}

function toTokenCaller(token: AdminToken): Caller {
  return { kind: 'admin_token', scopes: token.scopes, token };
}
