import { Injectable } from '@nestjs/common';
import { RedisConnection } from '../redis/redis-connection.js';

export interface Pause {
  readonly state: 'open' | 'limited';
  /** Unix milliseconds. */
  readonly until: number;
}

/** A sorted set: targets with the ends of their pauses. */
const KEY = 'tollgate:paused-targets';
const READ_EVERY_MS = 1_000;
/** Also bounds the pauses that another gateway reports, whose clock may be far ahead. */
export const LONGEST_PAUSE_MS = 300_000;
const MAX_PAUSES = 1_000;
const MEMBER = /^(open|limited) (.+)$/s;

/**
 * The pauses that all gateways of one Redis have seen, as a hint: one that cannot be written or read is forgotten. No call waits
 * for it.
 */
@Injectable()
export class SharedPauses {
  private known: ReadonlyMap<string, Pause> = new Map();
  private readAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly redis: RedisConnection) {}

  /** What was read a second ago at most, while calls ask for it. */
  of(target: string, now: number): Pause | undefined {
    if (this.redis.client === undefined) return undefined;
    if (Math.abs(now - this.readAt) >= READ_EVERY_MS) {
      this.readAt = now;
      void this.read(now).catch(() => undefined);
    }
    const pause = this.known.get(target);
    return pause !== undefined && pause.until > now ? pause : undefined;
  }

  tell(target: string, { state, until }: Pause, now: number): void {
    const { client } = this.redis;
    if (client === undefined) return;
    const write = client
      .multi()
      // Not those that are over by this clock: it may be ahead of the clocks of other gateways.
      .zremrangebyscore(KEY, '-inf', now - LONGEST_PAUSE_MS)
      .zadd(KEY, until, `${state} ${target}`)
      .pexpire(KEY, LONGEST_PAUSE_MS);
    void write.exec().catch(() => undefined);
  }

  private async read(now: number): Promise<void> {
    const found = await this.redis.client?.zrangebyscore(KEY, `(${now}`, '+inf', 'WITHSCORES', 'LIMIT', 0, MAX_PAUSES);
    const known = new Map<string, Pause>();
    for (let at = 0; found !== undefined && at + 1 < found.length; at += 2) {
      const [, state, target] = MEMBER.exec(found[at] ?? '') ?? [];
      if (target === undefined) continue;
      const until = Math.min(Number(found[at + 1]), now + LONGEST_PAUSE_MS);
      known.set(target, { state: state === 'open' ? 'open' : 'limited', until });
    }
    this.known = known;
  }
}
