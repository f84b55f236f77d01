import { isNativeError } from 'node:util/types';
import { Inject, Injectable } from '@nestjs/common';
import { errorCodeOf } from '../common/errors/describe-error.js';
import { Clock } from '../common/time/clock.js';
import { LOGGER, type Logger } from './logger.js';

const LOG_EVERY_MS = 10_000;
/** So many failures within that time, the last of them not long ago, and the store does not work. */
const MANY = 5;
const COUNTED_MS = 30_000;
const RECENT_MS = 10_000;
/**
 * For connections that were lost: the query of the probe needs one too, so its answer says that the store is back. Not zero,
 * since a store that drops most connections may answer a probe in between.
 */
const RECENTLY_LOST_MS = 2_000;
/** Codes of the network (`ECONNREFUSED`), and of PostgreSQL for a connection that failed or was ended. Most have no code. */
const LOST_CONNECTION = /^(?:E|08|57P)/;
const MAX_CAUSE_LENGTH = 200;
/**
 * A lock that others hold, a statement that took too long, a conflict: these say nothing about the store as a whole. A standby
 * (25006) is what the query of the probe looks for: once it takes writes again, the gateway is ready at once.
 */
const PASSING = new Set(['55P03', '40P01', '40001', '57014', '25006']);

/** Failures of the store, which calls and write-behind buffers report: some have no caller that would see them. */
@Injectable()
export class StoreFailures {
  /** In monotonic milliseconds, the latest last: when it was, and until when it counts as recent. */
  private failed: { readonly at: number; readonly recentUntil: number }[] = [];
  /** By SQLSTATE, of which there are few: another cause is worth a line at once. */
  private readonly loggedAt = new Map<string, number>();
  private unlogged = 0;

  constructor(
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  /** A call, or a write that no one waits for, failed in the database: logged, and counted for readiness. */
  note(cause: unknown): void {
    const { sqlstate } = describe(cause);
    if (sqlstate === undefined || !PASSING.has(sqlstate)) {
      const at = this.clock.monotonic();
      const isLost = sqlstate === undefined || LOST_CONNECTION.test(sqlstate);
      const recentUntil = at + (isLost ? RECENTLY_LOST_MS : RECENT_MS);
      this.failed = [...this.failed.slice(1 - MANY), { at, recentUntil }];
    }
    this.log(cause);
  }

  /**
   * One line of a kind in ten seconds: a store that is away fails every call. By itself for failures that readiness sees
   * without them: those of its own query, and of Redis, where most calls may still work.
   */
  log(cause: unknown): void {
    const { sqlstate, message } = describe(cause);
    const now = this.clock.monotonic();
    const kind = sqlstate ?? '';
    if (now - (this.loggedAt.get(kind) ?? -Infinity) < LOG_EVERY_MS) {
      this.unlogged += 1;
      return;
    }
    this.logger.warn({ event: 'store_failed', sqlstate, cause: message, failures_since: this.unlogged });
    this.loggedAt.set(kind, now);
    this.unlogged = 0;
  }

  /** Whether the store has failed so often, and so recently, that the gateway is better without calls. */
  get areMany(): boolean {
    const now = this.clock.monotonic();
    const counted = this.failed.filter(({ at }) => now - at < COUNTED_MS);
    return counted.length >= MANY && counted.some(({ recentUntil }) => now < recentUntil);
  }
}

/** Of the innermost cause: TypeORM and the usage store wrap what the driver says. */
function describe(error: unknown): { readonly sqlstate: string | undefined; readonly message: string } {
  let inner = error;
  let sqlstate = errorCodeOf(error);
  for (let depth = 0; depth < 5 && isNativeError(inner); depth += 1) {
    const next: unknown = 'driverError' in inner ? inner.driverError : inner.cause;
    if (!isNativeError(next)) break;
    inner = next;
    sqlstate = errorCodeOf(inner) ?? sqlstate;
  }
  return { sqlstate, message: isNativeError(inner) ? inner.message.slice(0, MAX_CAUSE_LENGTH) : 'unknown' };
}
