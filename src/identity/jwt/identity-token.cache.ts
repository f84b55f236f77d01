import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { MaybePromise } from '../../common/maybe-promise.js';
import { WeakMemo } from '../../common/cache/weak-memo.js';
import { type IdentityToken, type IdentityTokenRequest, signIdentityToken } from './identity-token.js';
import type { SigningKey } from './signing-keys.js';

/** The limit of the interface. */
const MAX_TOKENS = 10_000;
const MAX_MARGIN_MS = 30_000;
const MARGIN_SHARE = 0.1;

/**
 * LRU cache of signed tokens. Concurrent requests for one token share a signature. A token that is about to expire is not
 * returned: it could expire before the server reads it.
 */
export class IdentityTokenCache {
  private readonly tokens: LRUCache<string, IdentityToken>;
  private readonly keys = new WeakMemo<IdentityTokenRequest, string, string>();
  private readonly pending = new Map<string, Promise<IdentityToken>>();

  constructor(
    maxTokens: number = MAX_TOKENS,
    private readonly sign: typeof signIdentityToken = signIdentityToken,
  ) {
    this.tokens = new LRUCache({ max: maxTokens, ttlResolution: 0 });
  }

  /** The cache key is computed once per request object. */
  get(request: IdentityTokenRequest, signingKey: SigningKey, now: Date): MaybePromise<IdentityToken> {
    const key = this.keys.of(request, signingKey.kid, () => keyOf(request, signingKey.kid));
    const cached = this.tokens.get(key);
    if (cached !== undefined) {
      const leftMs = cached.expiresAt - now.getTime();
      // A token that lives longer than a new one is from before the clock was set back. Servers refuse tokens from the future.
      const isOfNow = leftMs <= request.expirySeconds * 1000;
      if (isOfNow && leftMs >= marginMs(request.expirySeconds)) return cached;
      this.tokens.delete(key);
    }
    const running = this.pending.get(key);
    if (running !== undefined) return running;
    const token = this.sign(request, signingKey, now)
      .then((signed) => {
        const ttl = signed.expiresAt - now.getTime();
        if (ttl > 0) this.tokens.set(key, signed, { ttl });
        return signed;
      })
      .finally(() => this.pending.delete(key));
    this.pending.set(key, token);
    return token;
  }
}

/** The shortest remaining life of a token that is returned. */
export function marginMs(expirySeconds: number): number {
  return Math.min(MAX_MARGIN_MS, expirySeconds * 1000 * MARGIN_SHARE);
}

/**
 * Everything that decides the content of a token, as JSON, so that two callers never share a key. Hashed, because the cache holds
 * 10,000 keys and claims can have 8 KiB.
 */
function keyOf({ claims, expirySeconds, audience, origin }: IdentityTokenRequest, kid: string): string {
  return hash('sha256', JSON.stringify([kid, expirySeconds, audience ?? null, origin ?? null, claims]), 'base64');
}
