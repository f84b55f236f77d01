import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { describeDefect } from '../common/errors/describe-error.js';
import { Clock } from '../common/time/clock.js';
import { WakeableLoop } from '../common/time/wakeable-loop.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';
import { Metrics } from '../telemetry/metrics.js';
import { LongStatement } from '../database/long-statement.js';
import { type BucketDrift, callsToCompare, longUsageDrift, usageDrift } from './drift.js';
import { rollupDrift } from './rollup-drift.js';

const INTERVAL_MS = 900_000;
/** Buckets that changed within this time are compared: twice the interval, so that none is missed. */
const LOOK_BACK_MS = 2 * INTERVAL_MS;
const HOUR_MS = 3_600_000;
/** More calls than this cannot be summed within the time limit of a statement. */
const MAX_OFTEN = 1_000_000;
const SELDOM_MS = 24 * HOUR_MS;
/** The most differences in one log line, since a defect may affect every bucket. */
const MAX_LOGGED = 20;

/**
 * Compares counters and sums with the ledger periodically, so that a defect in counting is noticed before it reaches a
 * bill.
 */
@Injectable()
export class UsageDriftMonitor implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop = new WakeableLoop(() => this.check(), INTERVAL_MS);
  /** The time of the next comparison when there are too many calls for frequent ones. */
  private nextSeldom = new Date(0);

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(LongStatement) private readonly longStatement: Pick<LongStatement, 'query'>,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.loop.wake();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.loop.stop();
  }

  /** Runs one round. Never rejects: the next round retries. */
  async check(): Promise<void> {
    await this.attempt(() => this.checkCounters());
    await this.attempt(() => this.checkRollups());
  }

  private async attempt(check: () => Promise<void>): Promise<void> {
    try {
      await check();
    } catch (cause) {
      this.metrics.usageDriftCheckFailures.inc();
      this.logger.warn({ event: 'usage_drift_check_failed', error: describeDefect(cause) });
    }
  }

  private async checkCounters(): Promise<void> {
    const drifting = await this.driftOfCounters();
    if (drifting === undefined) return;
    const sum = drifting.reduce((total, { drift }) => total + (drift < 0n ? -drift : drift), 0n);
    this.metrics.usageDrift.set(Number(sum));
    if (drifting.length === 0) return;
    const first = drifting.slice(0, MAX_LOGGED).map((bucket) => ({ ...bucket, drift: String(bucket.drift) }));
    this.logger.error({ event: 'usage_drift', buckets: drifting.length, drift: String(sum), first });
  }

  /** undefined when it is not this process's turn. */
  private async driftOfCounters(): Promise<readonly BucketDrift[] | undefined> {
    const now = this.clock.now();
    const since = new Date(now.getTime() - LOOK_BACK_MS);
    if ((await callsToCompare(this.dataSource, since)) <= MAX_OFTEN) return usageDrift(this.dataSource, since);
    if (now < this.nextSeldom) return undefined;
    this.nextSeldom = new Date(now.getTime() + SELDOM_MS);
    return longUsageDrift(this.longStatement, new Date(now.getTime() - 2 * SELDOM_MS), this.loop.signal);
  }

  /** Compares the sums of this hour and the one before. */
  private async checkRollups(): Promise<void> {
    const hour = Math.floor(this.clock.now().getTime() / HOUR_MS) - 1;
    const drifting = await rollupDrift(this.dataSource, new Date(hour * HOUR_MS));
    this.metrics.usageRollupDrift.set(drifting.length);
    if (drifting.length === 0) return;
    const first = drifting.slice(0, MAX_LOGGED).map(({ calls, costNano, ...sum }) => ({
      ...sum,
      drift: { calls: String(calls), cost_nano: String(costNano) },
    }));
    this.logger.error({ event: 'usage_rollup_drift', sums: drifting.length, first });
  }
}
