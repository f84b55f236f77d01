import { setTimeout } from 'node:timers/promises';
import {
  createRemoteJWKSet,
  type CryptoKey,
  customFetch,
  errors,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWK,
  type JWSHeaderParameters,
} from 'jose';
import type { GatewayError } from '../../common/errors/gateway.error.js';
import { isObject } from '../../common/json/read.js';
import type { Clock } from '../../common/time/clock.js';
import { unavailableBecause } from './unavailable-because.js';
import { UnexpectedStatusError } from './unexpected-status.error.js';

const MAX_AGE_MS = 10 * 60_000;
/** Up to this age, old keys are used during a refresh, so that under traffic no request waits. */
const REFRESH_AGE_MS = 15 * 60_000;
/** How long callers wait for a fetch when the keys are older. Then the old keys are used. */
const PATIENCE_MS = 500;
/** The longest use of old keys, so that an outage of the identity provider does not lock out everybody. */
const MAX_STALE_AGE_MS = 60 * 60_000;
/** The shortest time between two fetches. Tokens with invented key ids must not make the gateway a load generator. */
const COOL_DOWN_MS = 30_000;
/** Without keys every token fails, so the next fetch comes sooner. */
const COOL_DOWN_WITHOUT_KEYS_MS = 1_000;
const MAX_KEYS = 100;
const ACCEPT = 'application/json, application/jwk-set+json';

export interface RemoteKeySetOptions {
  /** A `fetch` by the egress rules, with limits on time and size. */
  readonly fetchGuarded: typeof fetch;
  /** Uses monotonic time, so that keys do not last longer when the clock is set back. */
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly logger: { warn(line: object): void };
  /** Default 500. */
  readonly patienceMs?: number;
}

/**
 * The key set of one URL, fetched on demand and at most every 30 s. jose's remote set holds the keys, and shares one
 * fetch between all callers. This class decides when to fetch, since jose has no stale keys and no pause after a failed
 * fetch.
 */
export class RemoteKeySet {
  readonly #keys: ReturnType<typeof createRemoteJWKSet>;
  #fetchedAt = -Infinity;
  #lastAttemptAt = -Infinity;
  /** The error of the last completed fetch; undefined when it succeeded. */
  #lastFailure: GatewayError | undefined;
  /** Resolves when the last fetch is so late that stale keys are better than waiting. */
  #isLate: Promise<void> = Promise.resolve();

  constructor(
    private readonly url: string,
    private readonly options: RemoteKeySetOptions,
  ) {
    this.#keys = createRemoteJWKSet(new URL(url), {
      cacheMaxAge: Infinity,
      cooldownDuration: Infinity,
      [customFetch]: () => this.#fetch(),
    });
  }

  /**
   * A key function for jose.
   * @throws errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys
   * @throws GatewayError `identity_provider_unavailable`
   */
  readonly keyFor = async (header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> => {
    await this.#haveKeys();
    try {
      return await this.#keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      // The provider may have added a key since the last fetch.
      if (this.#isCoolingDown(COOL_DOWN_MS)) throw this.#lastFailure ?? error;
      await this.#keys.reload();
      return this.#keys(header, token);
    }
  };

  async #haveKeys(): Promise<void> {
    const age = this.options.clock.monotonic() - this.#fetchedAt;
    if (age < MAX_AGE_MS) return;
    const isStale = age < MAX_STALE_AGE_MS;
    if (this.#isCoolingDown(isStale ? COOL_DOWN_MS : COOL_DOWN_WITHOUT_KEYS_MS)) {
      if (isStale || this.#lastFailure === undefined) return;
      throw this.#lastFailure;
    }
    const reloaded = this.#keys.reload();
    if (!isStale) return reloaded;
    const settled = reloaded.catch(() => undefined);
    if (age >= REFRESH_AGE_MS) await Promise.race([settled, this.#isLate]);
  }

  /** False during a fetch, since callers can wait for it. */
  #isCoolingDown(periodMs: number): boolean {
    return !this.#keys.reloading && this.options.clock.monotonic() - this.#lastAttemptAt < periodMs;
  }

  async #fetch(): Promise<Response> {
    const { clock, fetchGuarded, logger, patienceMs = PATIENCE_MS } = this.options;
    this.#lastAttemptAt = clock.monotonic();
    this.#isLate = setTimeout(patienceMs, undefined, { ref: false });
    try {
      const response = await fetchGuarded(this.url, { headers: { accept: ACCEPT } });
      if (response.status !== 200) throw new UnexpectedStatusError(response.status);
      const keySet = readKeySet(await response.json());
      this.#fetchedAt = clock.monotonic();
      this.#lastFailure = undefined;
      return Response.json(keySet);
    } catch (cause) {
      const failure = unavailableBecause('the key set cannot be fetched', cause);
      this.#lastFailure = failure;
      logger.warn({ event: 'key_set_not_fetched', host: new URL(this.url).host, reason: failure.reason });
      throw failure;
    }
  }
}

/**
 * Reads the keys of a set; jose validates them. Entries that are not objects are ignored, like keys of an unknown type
 * (RFC 7517, section 5), unless there are no others.
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
