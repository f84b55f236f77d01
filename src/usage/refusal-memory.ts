import { withTimeout } from '../common/time/timeout.js';
import type { RedisClient } from '../redis/redis-client.js';
import { redisReason } from '../redis/redis-connection.js';
import type { Logger } from '../telemetry/logger.js';
import type { BucketKey, BucketState } from './usage-store.types.js';

/** What was counted in a bucket when a call was last refused because of it. */
export type RefusedUsage = Pick<BucketState, 'used' | 'reserved'>;

export interface RefusalMemoryOptions {
  /** Of the keys; tests have their own. */
  readonly prefix?: string;
  /** How long a refusal is remembered. It is never renewed: then the durable store is asked again. */
  readonly rememberMs?: number;
  /** Longest wait for Redis. */
  readonly answerMs?: number;
  /** How long Redis is left alone after it failed, so that not every call waits for an answer that does not come. */
  readonly pauseMs?: number;
}

const DEFAULTS = { prefix: 'tollgate', rememberMs: 5_000, answerMs: 50, pauseMs: 1_000 } as const;
const WARN_EVERY_MS = 60_000;

/** Used, and reserved beside it. Any other value under a key is ignored. */
const REMEMBERED = /^(\d{1,19}):(\d{1,19})$/;
/** Of the counters, PostgreSQL's bigint. */
const MAX_COUNTER = 2n ** 63n - 1n;
/** The mark of a reset bucket: a refusal from before the reset that arrives late cannot overwrite it. */
const FORGOTTEN = 'reset';

/**
 * Remembers in Redis, for all gateways together and for a few seconds, which buckets are used up. It may forget anything at
 * any time, and never fails: without an answer there is no memory.
 */
export class RefusalMemory {
  private readonly options: Required<RefusalMemoryOptions>;
  /** By the process's own clock, like `warnedAt`. */
  private pausedUntil = -Infinity;
  private warnedAt = -Infinity;

  constructor(
    private readonly redis: Pick<RedisClient, 'status' | 'mget' | 'set'>,
    private readonly logger: Pick<Logger, 'warn'>,
    options: RefusalMemoryOptions = {},
  ) {
    this.options = { ...DEFAULTS, ...options };
  }

  /** In the order of the buckets, of which there is at least one; undefined: nothing is remembered. */
  async recall(organisationId: string, buckets: readonly BucketKey[]): Promise<readonly (RefusedUsage | undefined)[]> {
    if (performance.now() < this.pausedUntil) return [];
    const keys = buckets.map((bucket) => this.keyOf(organisationId, bucket));
    return (await this.ask(async (redis) => (await redis.mget(keys)).map(read))) ?? [];
  }

  /** Runs after the answer. A refusal that is already remembered stays unchanged. */
  remember(organisationId: string, states: readonly BucketState[]): void {
    if (performance.now() < this.pausedUntil) return;
    for (const state of states) {
      const key = this.keyOf(organisationId, state);
      const value = `${state.used}:${state.reserved}`;
      void this.ask((redis) => redis.set(key, value, 'PX', this.options.rememberMs, 'NX'));
    }
  }

  /** From now on nothing is remembered of the bucket, and for a while nothing new either. Tried even after a failure. */
  async forget(organisationId: string, bucket: BucketKey): Promise<void> {
    const key = this.keyOf(organisationId, bucket);
    await this.ask((redis) => redis.set(key, FORGOTTEN, 'PX', this.options.rememberMs));
  }

  /** The braces keep a tenant's keys in one slot of a cluster, where one command can read them. */
  private keyOf(organisationId: string, { policyId, windowId, bucketHash }: BucketKey): string {
    return `${this.options.prefix}:usage:{${organisationId}}:${policyId}:${windowId}:${bucketHash}`;
  }

  /** undefined when there was no answer in time. */
  private async ask<T>(command: (redis: Pick<RedisClient, 'mget' | 'set'>) => Promise<T>): Promise<T | undefined> {
    if (this.redis.status !== 'ready') return undefined;
    try {
      return await withTimeout(this.options.answerMs, command(this.redis));
    } catch (cause) {
      this.pause(cause);
      return undefined;
    }
  }

  private pause(cause: unknown): void {
    const now = performance.now();
    this.pausedUntil = now + this.options.pauseMs;
    if (now - this.warnedAt < WARN_EVERY_MS) return;
    this.warnedAt = now;
    this.logger.warn({ event: 'usage_memory_failed', reason: redisReason(cause) });
  }
}

function read(value: string | null): RefusedUsage | undefined {
  const [, used, reserved] = REMEMBERED.exec(value ?? '') ?? [];
  if (used === undefined || reserved === undefined) return undefined;
  const usage = { used: BigInt(used), reserved: BigInt(reserved) };
  return usage.used > MAX_COUNTER || usage.reserved > MAX_COUNTER ? undefined : usage;
}
