import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { MaybePromise } from '../../common/maybe-promise.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import type { JsonObject } from '../../common/json/read.js';
import { Clock } from '../../common/time/clock.js';
import type { ConfiguredIntrospection, JwtValidation } from '../config/identity-config.js';
import { assertClaims } from './claim-rules.js';
import { IdentityProviderClient } from './identity-provider-client.js';
import { Introspector } from './introspector.js';
import { verifyJwt } from './jwt-verifier.js';
import { assertTokenSize, isTokenText, looksLikeJwt } from './token-form.js';
import { TokenRefusedError } from './token-errors.js';
import { UnexpectedStatusError } from '../../upstream/identity-provider/unexpected-status.error.js';

/** A key that the provider withdraws is trusted for at most this much longer. */
const CACHE_MS = 60_000;
const MAX_TOKENS = 10_000;

/** A valid token. */
export interface ValidToken {
  readonly claims: JsonObject;
  /** Validated by the provider (RFC 7662); otherwise the token is a signed JWT. */
  readonly isIntrospected: boolean;
}

interface VerifiedToken {
  readonly token: ValidToken;
  /** Unix milliseconds. */
  readonly expiresAt: number;
  /** By the monotonic clock. */
  readonly until: number;
}

/** Validates users' tokens by the rules of a server. */
@Injectable()
export class TokenValidator {
  private readonly verified = new LRUCache<string, VerifiedToken>({ max: MAX_TOKENS });
  /** The rules of a server are the same object for many calls. */
  private readonly textsOfRules = new WeakMap<JwtValidation, string>();
  private readonly introspector: Introspector;

  constructor(
    private readonly provider: IdentityProviderClient,
    private readonly clock: Clock,
  ) {
    this.introspector = new Introspector(provider, () => clock.monotonic());
  }

  /**
   * Returns the token's claims, as the same object while they are cached.
   * @throws TokenRefusedError
   * @throws GatewayError `identity_provider_unavailable`, `secret_unavailable`
   */
  validate(token: string, rules: JwtValidation, now: Date): MaybePromise<ValidToken> {
    assertTokenSize(token);
    const key = this.keyOf(token, rules);
    const known = this.knownAt(key, now);
    if (known !== undefined) return known;
    if (!isTokenText(token)) throw new TokenRefusedError('malformed');
    const { jwksUri, introspection } = rules;
    if (jwksUri !== undefined && (introspection === undefined || looksLikeJwt(token))) {
      return this.verify(token, jwksUri, rules, now, key);
    }
    if (introspection === undefined) throw new TokenRefusedError('malformed');
    return this.introspect(token, introspection, rules, now).then((claims) => asValid(claims, rules, true));
  }

  /** When the provider refuses a client secret from a secret reference, the secret is read again, since it may have been rotated. */
  private async introspect(
    token: string,
    introspection: ConfiguredIntrospection,
    rules: JwtValidation,
    now: Date,
  ): Promise<JsonObject> {
    const ask = async (clientSecret: string): Promise<JsonObject> =>
      this.introspector.introspect(token, { ...introspection, clientSecret }, rules, now);
    const { clientSecret: configured } = introspection;
    if (typeof configured === 'string') return ask(configured);
    const secret = await configured('cached');
    try {
      return await ask(secret);
    } catch (error) {
      const renewed = isClientRefused(error) ? await configured('fresh').catch(() => secret) : secret;
      if (renewed === secret) throw error;
      return ask(renewed);
    }
  }

  /** Includes the rules, since another server may have others. Neither JSON nor a header contains a line break. */
  private keyOf(token: string, rules: JwtValidation): string {
    let text = this.textsOfRules.get(rules);
    if (text === undefined) this.textsOfRules.set(rules, (text = JSON.stringify(rules)));
    return hash('sha256', `${text}\n${token}`, 'base64');
  }

  private knownAt(key: string, now: Date): ValidToken | undefined {
    const known = this.verified.get(key);
    const isBelieved = known !== undefined && now.getTime() < known.expiresAt && this.clock.monotonic() < known.until;
    return isBelieved ? known.token : undefined;
  }

  private async verify(
    token: string,
    jwksUri: string,
    rules: JwtValidation,
    now: Date,
    key: string,
  ): Promise<ValidToken> {
    const until = this.clock.monotonic() + CACHE_MS;
    const claims = await verifyJwt(token, rules, this.provider.keySetAt(jwksUri), now);
    const valid = asValid(claims, rules, false);
    this.verified.set(key, { token: valid, expiresAt: expiryOf(claims), until });
    return valid;
  }
}

function asValid(claims: JsonObject, rules: JwtValidation, isIntrospected: boolean): ValidToken {
  assertClaims(claims, rules);
  return { claims, isIntrospected };
}

/** The provider refuses the gateway's own credentials. */
function isClientRefused(error: unknown): boolean {
  if (!(error instanceof GatewayError) || !(error.cause instanceof UnexpectedStatusError)) return false;
  return [401, 403].includes(error.cause.status);
}

/** Unix milliseconds; every verified token has one. */
function expiryOf({ exp }: JsonObject): number {
  return typeof exp === 'number' ? exp * 1000 : 0;
}
