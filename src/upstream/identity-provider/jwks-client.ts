import { setTimeout } from 'node:timers/promises';
import {
  createLocalJWKSet,
  type CryptoKey,
  errors,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWK,
  type JWSHeaderParameters,
} from 'jose';
import type { GatewayError } from '../../common/errors/gateway.error.js';
import { isObject } from '../../common/json/read.js';
import { unavailableBecause } from './unavailable-because.js';

const MAX_AGE_MS = 10 * 60_000;
/** Until this age keys still serve those who find them old, while they are fetched again: under traffic nobody waits. */
const REFRESH_AGE_MS = 15 * 60_000;
/** For keys that are older still, so long after a fetch began; then what is known counts. */
const PATIENCE_MS = 500;
/** An identity provider that is down for a while must not lock everybody out. */
const MAX_STALE_AGE_MS = 60 * 60_000;
/** Between two fetches: tokens with invented key ids must not make the gateway a load generator. */
const COOL_DOWN_MS = 30_000;
/** Without any keys every token fails, so the next try comes sooner. */
const COOL_DOWN_WITHOUT_KEYS_MS = 1_000;
const MAX_KEYS = 100;

type ResolveKey = ReturnType<typeof createLocalJWKSet>;

/** A fetch under way. */
interface Fetch {
  readonly keys: Promise<ResolveKey>;
  /** Comes when it has taken so long that keys of an hour are better than waiting for it. */
  readonly isLate: Promise<void>;
}

export interface JwksClientOptions {
  readonly fetchKeySet: () => Promise<unknown>;
  /** Milliseconds of a monotonic clock: keys must not last longer because the time is set back. */
  readonly now: () => number;
  /** Told of each fetch that fails. While known keys serve for it, nobody else hears of it. */
  readonly onFailure: (failure: GatewayError) => void;
  /** Default 500. */
  readonly patienceMs?: number;
}

/** The key set at one address: fetched when it is needed, at most every 30 s, by one fetch for all who wait. */
export class JwksClient {
  private keys: { readonly resolve: ResolveKey; readonly fetchedAt: number } | undefined;
  private lastAttemptAt = -Infinity;
  /** Of the last fetch that is over; undefined when that was a success. */
  private lastFailure: unknown;
  private pending: Fetch | undefined;

  constructor(private readonly options: JwksClientOptions) {}

  /**
   * In jose's form of a key function.
   * @throws errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys
   * @throws GatewayError `identity_provider_unavailable`
   */
  readonly keyFor = async (header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> => {
    const resolve = await this.usableKeys();
    try {
      return await resolve(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      // The provider may have a new key since.
      if (this.pending === undefined && this.isCoolingDown(COOL_DOWN_MS)) {
        throw this.lastFailure === undefined ? error : this.justFailed();
      }
      const renewed = await this.refresh().keys;
      return renewed(header, token);
    }
  };

  private async usableKeys(): Promise<ResolveKey> {
    const { keys } = this;
    const age = keys === undefined ? Infinity : this.options.now() - keys.fetchedAt;
    if (keys !== undefined && age < MAX_AGE_MS) return keys.resolve;
    const stale = keys !== undefined && age < MAX_STALE_AGE_MS ? keys.resolve : undefined;
    const coolDown = stale === undefined ? COOL_DOWN_WITHOUT_KEYS_MS : COOL_DOWN_MS;
    if (this.pending === undefined && this.isCoolingDown(coolDown)) {
      if (stale === undefined) throw this.justFailed();
      return stale;
    }
    const { keys: renewed, isLate } = this.refresh();
    if (stale === undefined) return renewed;
    const known = renewed.catch(() => stale);
    return age < REFRESH_AGE_MS ? stale : Promise.race([known, isLate.then(() => stale)]);
  }

  private refresh(): Fetch {
    this.pending ??= {
      keys: this.fetch().finally(() => {
        this.pending = undefined;
      }),
      isLate: setTimeout(this.options.patienceMs ?? PATIENCE_MS, undefined, { ref: false }),
    };
    return this.pending;
  }

  private async fetch(): Promise<ResolveKey> {
    this.lastAttemptAt = this.options.now();
    try {
      const resolve = createLocalJWKSet(readKeySet(await this.options.fetchKeySet()));
      this.keys = { resolve, fetchedAt: this.options.now() };
      this.lastFailure = undefined;
      return resolve;
    } catch (cause) {
      this.lastFailure = cause;
      const failure = unavailableBecause('the key set cannot be fetched', cause);
      this.options.onFailure(failure);
      throw failure;
    }
  }

  private justFailed(): GatewayError {
    return unavailableBecause('the last fetch of the key set has just failed', this.lastFailure);
  }

  private isCoolingDown(periodMs: number): boolean {
    return this.options.now() - this.lastAttemptAt < periodMs;
  }
}

/**
 * The keys of a set; jose checks them themselves. What is no object is left out, as keys that nobody understands are (RFC 7517,
 * section 5), unless there is nothing else.
 */
function readKeySet(value: unknown): JSONWebKeySet {
  const entries: unknown = isObject(value) ? value['keys'] : undefined;
  if (!Array.isArray(entries) || entries.length > MAX_KEYS)
    throw new errors.JWKSInvalid(`not a key set of at most ${MAX_KEYS} keys`);
  const keys = entries.filter(isKey);
  if (keys.length === 0 && entries.length > 0) throw new errors.JWKSInvalid('a key set without keys');
  return { keys };
}

function isKey(entry: unknown): entry is JWK {
  return isObject(entry);
}
