import { Injectable } from '@nestjs/common';
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Principal } from '../access/principal.js';
import type { RateLimit, RateLimitUnit } from '../access/rate-limit.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { RedisConnection } from '../redis/redis-connection.js';

const SECONDS: Readonly<Record<RateLimitUnit, number>> = { rps: 1, rpm: 60, rph: 3_600, rpd: 86_400 };

/** Counts the requests of keys that have rate limits: in Redis for all replicas together, else in this process. */
@Injectable()
export class RateLimiter {
  private readonly limiters = new Map<string, RateLimiterAbstract>();

  constructor(private readonly redis: RedisConnection) {}

  /**
   * Counts one request against every limit of the key.
   * @throws GatewayError `rate_limited` with `Retry-After`, or `store_unavailable` when Redis cannot be reached
   */
  async consume(principal: Principal): Promise<void> {
    for (const limit of principal.rateLimits) {
      try {
        await this.limiterFor(limit).consume(principal.id);
      } catch (refusal) {
        throw refusal instanceof RateLimiterRes ? rateLimited(limit, refusal) : storeUnavailable(refusal);
      }
    }
  }

  private limiterFor(limit: RateLimit): RateLimiterAbstract {
    const name = `${limit.unit}:${limit.value}`;
    let limiter = this.limiters.get(name);
    if (limiter === undefined) {
      limiter = this.createLimiter(name, limit);
      this.limiters.set(name, limiter);
    }
    return limiter;
  }

  private createLimiter(name: string, limit: RateLimit): RateLimiterAbstract {
    const options = { keyPrefix: `tollgate:rate:${name}`, points: limit.value, duration: SECONDS[limit.unit] };
    const { client } = this.redis;
    return client === undefined
      ? new RateLimiterMemory(options)
      : new RateLimiterRedis({ ...options, storeClient: client, rejectIfRedisNotReady: true });
  }
}

function rateLimited(limit: RateLimit, refusal: RateLimiterRes): GatewayError {
  return new GatewayError('rate_limited', {
    message: `The API key has used its ${limit.value} requests (${limit.unit}).`,
    headers: { 'retry-after': String(Math.max(1, Math.ceil(refusal.msBeforeNext / 1000))) },
  });
}

function storeUnavailable(cause: unknown): GatewayError {
  return new GatewayError('store_unavailable', { cause, reason: 'redis' });
}
