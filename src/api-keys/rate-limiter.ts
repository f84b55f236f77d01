import { Injectable } from '@nestjs/common';
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import type { Principal, RateLimit, RateLimitOwner, RateLimitUnit } from '../access/principal.js';
import { DO_NOT_RETRY, GatewayError } from '../common/errors/gateway.error.js';
import { counterOf } from './rate-limit-counters.js';
import { RedisConnection, RedisFailedError } from '../redis/redis-connection.js';

const SECONDS: Readonly<Record<RateLimitUnit, number>> = { rps: 1, rpm: 60, rph: 3_600, rpd: 86_400 };
/** A counter only counts: the limit is compared by us, and may change while the counter runs. */
const NEVER_FULL = Number.MAX_SAFE_INTEGER;
/** A unit given back after the end of its window would start the next one below zero. So near the end it is not given back. */
const NOT_GIVEN_BACK_MS = 5_000;

/** SDKs sleep for as long as `Retry-After` says, even until tomorrow, unless the response forbids a retry. */
const WORTH_WAITING_SECONDS = 60;

const USED_BY: Readonly<Record<RateLimitOwner, string>> = {
  key: 'The API key has',
  user: 'The keys of this user have',
  workspace: 'The keys of this workspace have',
};

/** One request in one counter. */
interface Counted {
  readonly counter: string;
  readonly unit: RateLimitUnit;
  readonly consumedPoints: number;
  readonly msBeforeNext: number;
}

/** Counts the requests of keys that have rate limits: in Redis for all replicas together, else in this process. */
@Injectable()
export class RateLimiter {
  private readonly counters: Readonly<Record<RateLimitUnit, RateLimiterAbstract>>;

  constructor(private readonly redis: RedisConnection) {
    this.counters = {
      rps: this.createCounter('rps'),
      rpm: this.createCounter('rpm'),
      rph: this.createCounter('rph'),
      rpd: this.createCounter('rpd'),
    };
  }

  /**
   * Counts one request against every limit of the key, or, when one of them refuses it, against none.
   * @throws GatewayError `rate_limited` with `Retry-After`, or `store_unavailable` when Redis cannot be reached
   */
  async consume(principal: Principal): Promise<void> {
    const counted: Counted[] = [];
    for (const limit of principal.rateLimits) {
      const count = await this.count(counterOf(principal, limit), limit.unit);
      counted.push(count);
      if (count.consumedPoints <= limit.value) continue;
      await this.giveBack(counted);
      throw rateLimited(limit, count);
    }
  }

  private async count(counter: string, unit: RateLimitUnit): Promise<Counted> {
    const { consumedPoints, msBeforeNext } = await this.counters[unit].consume(counter).catch(refuseWithoutStore);
    return { counter, unit, consumedPoints, msBeforeNext };
  }

  /** Else tries that were refused would use up what a higher limit gives, or another limit of the key. */
  private async giveBack(counted: readonly Counted[]): Promise<void> {
    for (const { counter, unit, msBeforeNext } of counted) {
      if (msBeforeNext > NOT_GIVEN_BACK_MS) await this.counters[unit].reward(counter).catch(refuseWithoutStore);
    }
  }

  /** Named by the unit alone: with the value in its name, every change of a limit would begin a new counter. */
  private createCounter(unit: RateLimitUnit): RateLimiterAbstract {
    const options = { keyPrefix: `tollgate:rate:${unit}`, points: NEVER_FULL, duration: SECONDS[unit] };
    const { client } = this.redis;
    return client === undefined
      ? new RateLimiterMemory(options)
      : new RateLimiterRedis({ ...options, storeClient: client, rejectIfRedisNotReady: true });
  }
}

function rateLimited(limit: RateLimit, { msBeforeNext }: Counted): GatewayError {
  const seconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
  return new GatewayError('rate_limited', {
    message: `${USED_BY[limit.per ?? 'key']} used the ${limit.value} requests (${limit.unit}).`,
    headers: { 'retry-after': String(seconds), ...(seconds > WORTH_WAITING_SECONDS ? DO_NOT_RETRY : {}) },
  });
}

function refuseWithoutStore(cause: unknown): never {
  const failed = new RedisFailedError(cause);
  throw new GatewayError('store_unavailable', { cause: failed, reason: failed.message });
}
