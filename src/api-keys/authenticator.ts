import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { Principal } from '../access/principal.js';
import type { Scope } from '../access/scopes.js';
import { type MaybePromise, chain } from '../common/maybe-promise.js';
import { type AdminToken, AdminTokenVerifier } from './admin-token.verifier.js';
import { keyInvalid, readCredentials } from './credentials.js';
import type { KeyAnswer } from './api-key.store.js';
import { PrincipalCache } from './principal.cache.js';
import { RateLimiter } from './rate-limiter.js';
import { SessionAuthenticator } from './sessions/session-authenticator.js';

/** Who calls. A key names its tenant; which of its tenants an administrator acts for, the request says later. */
export type Caller =
  | {
      readonly kind: 'api_key';
      readonly scopes: ReadonlySet<Scope>;
      readonly principal: Principal;
      /** Of the session by which it came; absent: it brought its key. */
      readonly sessionId?: string;
    }
  | {
      readonly kind: 'admin_token';
      readonly scopes: ReadonlySet<Scope>;
      readonly token: AdminToken;
      /** Of the session by which the person came; absent: they brought a token. */
      readonly sessionId?: string;
    };

@Injectable()
export class Authenticator {
  constructor(
    private readonly cache: PrincipalCache,
    private readonly tokens: AdminTokenVerifier,
    private readonly rateLimiter: RateLimiter,
    private readonly sessions: SessionAuthenticator,
  ) {}

  /** @throws GatewayError `api_key_invalid`, `token_invalid`, `identity_provider_unavailable`, `rate_limited` */
  authenticate(request: Request, now: Date): MaybePromise<Caller> {
    const credentials = readCredentials(request.headers, keyInQuery(request));
    switch (credentials.kind) {
      case 'api_key':
        return chain(this.ownerOf(credentials.key, now), toKeyCaller);
      case 'token':
        return this.tokens.verify(credentials.token).then(toTokenCaller);
      case 'none':
        return this.ownerOfSession(request, now);
    }
  }

  /**
   * The owner of a gateway key, for callers who bring it in their own way. Counts one request.
   * @throws GatewayError `api_key_invalid`, `rate_limited`
   */
  ownerOf(key: string, now: Date): MaybePromise<Principal> {
    return chain(this.cache.find(key, now.getTime()), (answer) => this.counted(toOwner(answer)));
  }

  /**
   * The same for a request that was counted already.
   * @throws GatewayError `api_key_invalid`
   */
  knownOwnerOf(key: string, now: Date): MaybePromise<Principal> {
    return chain(this.cache.find(key, now.getTime()), toOwner);
  }

  private async ownerOfSession(request: Request, now: Date): Promise<Caller> {
    const { owner, sessionId } = await this.sessions.authenticate(request, now);
    if ('subject' in owner) return { ...toTokenCaller(owner), sessionId };
    return { ...toKeyCaller(await this.counted(owner)), sessionId };
  }

  private counted(principal: Principal): MaybePromise<Principal> {
    return principal.rateLimits.length === 0 ? principal : this.rateLimiter.consume(principal).then(() => principal);
  }
}

function toOwner(answer: KeyAnswer): Principal {
  if ('refusal' in answer) throw keyInvalid(answer.refusal);
  return answer.principal;
}

function toKeyCaller(principal: Principal) {
  return { kind: 'api_key', scopes: principal.scopes, principal } as const;
}

function toTokenCaller(token: AdminToken) {
  return { kind: 'admin_token', scopes: token.scopes, token } as const;
}

/** Older clients of Gemini have their key in the address. At no other address is it read: addresses are logged in many places. */
function keyInQuery({ method, path, query }: Request): unknown {
  const isOfGemini = path.startsWith('/v1beta/') || (method === 'POST' && path.startsWith('/v1/models/'));
  return isOfGemini ? query['key'] : undefined;
}
