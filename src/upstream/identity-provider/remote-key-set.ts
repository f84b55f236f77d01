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
/** Until this age, old keys serve while they are fetched again: under traffic, no request waits. */
const REFRESH_AGE_MS = 15 * 60_000;
/** How long a fetch is waited for when the keys are older still; then the known ones serve. */
const PATIENCE_MS = 500;
/** An identity provider that is down for a while must not lock everybody out. */
const MAX_STALE_AGE_MS = 60 * 60_000;
/** Between two fetches: tokens with invented key ids must not make the gateway a load generator. */
const COOL_DOWN_MS = 30_000;
/** Without any keys every token fails, so the next try comes sooner. */
const COOL_DOWN_WITHOUT_KEYS_MS = 1_000;
const MAX_KEYS = 100;
const ACCEPT = 'application/json, application/jwk-set+json';

export interface RemoteKeySetOptions {
  /** Bounded in time and size, by the egress rules. */
  readonly fetchGuarded: typeof fetch;
  /** Its monotonic time: keys must not last longer because the time is set back. */
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly logger: { warn(line: object): void };
  /** Default 500. */
  readonly patienceMs?: number;
}

/**
 * The key set at one address: fetched when it is needed, at most every 30 s. jose's remote set holds the keys, and has one fetch
 * serve all that wait. When to fetch is decided here, since jose has no stale keys and no pause after a fetch that failed.
 */
export class RemoteKeySet {
  readonly #keys: ReturnType<typeof createRemoteJWKSet>;
  #fetchedAt = -Infinity;
  #lastAttemptAt = -Infinity;
  /** Of the last fetch that ended; undefined when it succeeded. */
  #lastFailure: GatewayError | undefined;
  /** Resolves when the last fetch has taken so long that stale keys are better than waiting for it. */
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
   * In jose's form of a key function.
   * @throws errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys
   * @throws GatewayError `identity_provider_unavailable`
   */
  readonly keyFor = async (header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> => {
    await this.#haveKeys();
    try {
      return await this.#keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      // The provider may have a new key since.
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

  /** Not while a fetch runs: that one can be waited for. */
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
 * The keys of a set, which jose validates. Entries that are not objects are ignored, like keys of an unknown type (RFC 7517,
 * section 5), unless there is no other entry.
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
