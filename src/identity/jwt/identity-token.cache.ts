import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { MaybePromise } from '../../common/maybe-promise.js';
import { WeakMemo } from '../../common/cache/weak-memo.js';
import { type IdentityToken, type IdentityTokenRequest, signIdentityToken } from './identity-token.js';
import type { SigningKey } from './signing-keys.js';

/** The interface's limit. */
const MAX_TOKENS = 10_000;
const MAX_MARGIN_MS = 30_000;
const MARGIN_SHARE = 0.1;

/**
 * Signed tokens, the least recently used one leaving first. One signature serves all requests that wait for the same
 * token. A token that is about to expire is not given out: it would die on its way.
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

  /** A request that comes again as the same object is not digested again. */
  get(request: IdentityTokenRequest, signingKey: SigningKey, now: Date): MaybePromise<IdentityToken> {
    const key = this.keys.of(request, signingKey.kid, () => keyOf(request, signingKey.kid));
    const cached = this.tokens.get(key);
    if (cached !== undefined) {
      const leftMs = cached.expiresAt - now.getTime();
      // More than a new one would have: the clock was set back, and servers refuse what was issued in their future.
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

/** How long a token must at least live on when it is given out. */
export function marginMs(expirySeconds: number): number {
  return Math.min(MAX_MARGIN_MS, expirySeconds * 1000 * MARGIN_SHARE);
}

/**
 * Everything that decides what a token says, in JSON, where no two sets of values are spelled alike: nobody gets the token of
 * somebody else. Digested, so that a key of 10,000 does not hold 8 KiB of claims.
 */
function keyOf({ claims, expirySeconds, audience }: IdentityTokenRequest, kid: string): string {
  return hash('sha256', JSON.stringify([kid, expirySeconds, audience ?? null, claims]), 'base64');
}
