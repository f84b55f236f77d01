import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { identityProviderUnavailable } from '../../common/errors/gateway.error.js';
import { isObject, type JsonObject } from '../../common/json/read.js';
import { unavailableBecause } from '../../upstream/identity-provider/unavailable-because.js';
import type { Introspection, JwtValidation } from '../config/identity-config.js';
import type { IdentityProviderClient } from './identity-provider-client.js';
import { KeyedSemaphore } from './keyed-semaphore.js';
import { TokenRefusedError } from './token-errors.js';

const MAX_ANSWERS = 10_000;
/** How long a refusal is cached. */
const NEGATIVE_CACHE_MS = 5_000;
/** Per endpoint. The wait is as long as a request to the provider may take. */
const LIMITS = { running: 32, waiting: 256, patienceMs: 5_000 };

interface Answer {
  /** Undefined when the token is not active. */
  readonly claims: JsonObject | undefined;
  /** Unix milliseconds. */
  readonly expiresAt: number;
  /** By the monotonic clock. */
  readonly until: number;
}

/** Asks the provider about a token (RFC 7662). Concurrent calls for one token share a request. */
export class Introspector {
  private readonly answers = new LRUCache<string, Answer>({ max: MAX_ANSWERS });
  /** Separate, because anyone can send invalid tokens, and these must not evict the valid ones. */
  private readonly refusals = new LRUCache<string, Answer>({ max: MAX_ANSWERS });
  private readonly limit = new KeyedSemaphore(LIMITS);
  private readonly pending = new Map<string, Promise<Answer>>();

  /** @param monotonic milliseconds of a monotonic clock: cached answers must not live longer when the time is set back */
  constructor(
    private readonly provider: Pick<IdentityProviderClient, 'postForm'>,
    private readonly monotonic: () => number,
  ) {}

  /**
   * The claims of an active token with valid times, issuer and audience.
   * @throws TokenRefusedError
   * @throws GatewayError `identity_provider_unavailable`
   */
  async introspect(token: string, from: Introspection, rules: JwtValidation, now: Date): Promise<JsonObject> {
    const { claims } = await this.answerTo(token, from, now);
    if (claims === undefined) throw new TokenRefusedError('inactive');
    assertTimes(claims, rules.clockToleranceSeconds, now);
    // Optional: the endpoint belongs to the issuer.
    if (rules.issuer !== undefined && isGiven(claims['iss']) && claims['iss'] !== rules.issuer) {
      throw new TokenRefusedError('issuer');
    }
    if (rules.audience !== undefined && !isFor(claims['aud'], rules.audience)) throw new TokenRefusedError('audience');
    return claims;
  }

  private async answerTo(token: string, from: Introspection, now: Date): Promise<Answer> {
    // Includes the credentials: an answer is for the client that may ask.
    const key = hash('sha256', JSON.stringify([from, token]), 'base64');
    const cached = this.answers.get(key) ?? this.refusals.get(key);
    if (cached !== undefined && now.getTime() < cached.expiresAt && this.monotonic() < cached.until) return cached;
    const running = this.pending.get(key);
    if (running !== undefined) return running;
    // Valid tokens have their own places: anyone can send many unknown tokens, and these must not take them.
    const lane = this.answers.has(key) ? `known ${from.endpoint}` : from.endpoint;
    const answer = this.limit
      .run(lane, () => this.ask(token, from))
      .then((given) => {
        this.remember(key, given);
        return given;
      })
      .finally(() => this.pending.delete(key));
    this.pending.set(key, answer);
    return answer;
  }

  private remember(key: string, given: Answer): void {
    const [kept, other] = given.claims === undefined ? [this.refusals, this.answers] : [this.answers, this.refusals];
    other.delete(key);
    kept.set(key, given);
  }

  private async ask(token: string, from: Introspection): Promise<Answer> {
    const askedAt = this.monotonic();
    const body = await this.provider
      .postForm(from.endpoint, new URLSearchParams({ token, token_type_hint: 'access_token' }), basic(from))
      .catch((cause: unknown) => {
        throw unavailableBecause('the introspection endpoint gives no answer', cause);
      });
    if (!isObject(body) || typeof body['active'] !== 'boolean')
      throw identityProviderUnavailable('the introspection answer has no active');
    if (!body['active']) return { claims: undefined, expiresAt: Infinity, until: askedAt + NEGATIVE_CACHE_MS };
    const { exp } = body;
    const expiresAt = typeof exp === 'number' ? exp * 1000 : Infinity;
    return { claims: body, expiresAt, until: askedAt + from.cacheSeconds * 1000 };
  }
}

/** RFC 6749, section 2.3.1: both parts are form-encoded before they are joined. */
function basic({ clientId, clientSecret }: Introspection): string {
  const encoded = [clientId, clientSecret].map((part) => encodeURIComponent(part).replaceAll('%20', '+'));
  return `Basic ${Buffer.from(encoded.join(':')).toString('base64')}`;
}

function assertTimes({ exp, nbf }: JsonObject, toleranceSeconds: number, now: Date): void {
  const seconds = now.getTime() / 1000;
  if (isGiven(exp)) {
    if (typeof exp !== 'number') throw new TokenRefusedError('malformed');
    if (exp <= seconds - toleranceSeconds) throw new TokenRefusedError('expired');
  }
  if (isGiven(nbf)) {
    if (typeof nbf !== 'number') throw new TokenRefusedError('malformed');
    if (nbf > seconds + toleranceSeconds) throw new TokenRefusedError('not_yet_valid');
  }
}

/** Some providers send null for a missing member. */
function isGiven(claim: unknown): boolean {
  return claim !== undefined && claim !== null;
}

function isFor(audience: unknown, wanted: readonly string[]): boolean {
  const held: readonly unknown[] = Array.isArray(audience) ? audience : [audience];
  return wanted.some((value) => held.includes(value));
}
