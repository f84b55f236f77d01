import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { describeDefect } from '../common/errors/describe-error.js';
import { Clock } from '../common/time/clock.js';
import { WakeableLoop } from '../common/time/wakeable-loop.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';
import { USAGE_OBSERVER, type UsageObserver } from './usage-observer.js';
import { USAGE_STORE } from './usage-store.token.js';
import type { UsageStore } from './usage-store.types.js';

const ROUND_MS = 5_000;
/** The number of months after the current one for which the ledger has partitions. */
const MONTHS_AHEAD = 2;
const PARTITIONS_EVERY_MS = 3_600_000;
/** The most changes that one statement adds to the sums, so that it stays within its time limit. */
const FOLD_AT_ONCE = 5_000;

/**
 * Runs periodic work: settles reservations of dead gateways, creates partitions for the coming months, and updates the
 * sums that reports read.
 */
@Injectable()
export class UsageHousekeepingService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop = new WakeableLoop(() => this.tidy(), ROUND_MS);
  /** Unix milliseconds. */
  private partitionsMadeAt = -Infinity;

  constructor(
    @Inject(USAGE_STORE) private readonly store: UsageStore,
    @Inject(DataSource) private readonly dataSource: Pick<DataSource, 'query'>,
    private readonly clock: Clock,
    @Inject(USAGE_OBSERVER) private readonly observer: UsageObserver,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  onApplicationBootstrap(): void {
    this.loop.wake();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.loop.stop();
  }

  /** Runs one round. Never rejects: the next round retries failed work. */
  async tidy(): Promise<void> {
    const now = this.clock.now();
    await this.attempt('reap', () => this.store.reap(now));
    await this.attempt('partitions', () => this.makePartitions(now));
    await this.attempt('rollups', () => this.foldRollups());
    await this.attempt('count', () => this.countReservations());
  }

  private async attempt(task: string, work: () => Promise<unknown>): Promise<void> {
    if (this.loop.isStopped) return;
    try {
      await work();
    } catch (cause) {
      this.logger.warn({ event: 'usage_housekeeping_failed', task, error: describeDefect(cause) });
    }
  }

  private async makePartitions(now: Date): Promise<void> {
    if (now.getTime() - this.partitionsMadeAt < PARTITIONS_EVERY_MS) return;
    await this.dataSource.query('SELECT usage_make_partitions($1, $2)', [now, MONTHS_AHEAD]);
    this.partitionsMadeAt = now.getTime();
  }

  private async foldRollups(): Promise<void> {
    for (let last = FOLD_AT_ONCE; last === FOLD_AT_ONCE && !this.loop.isStopped;) {
      const [row]: readonly { readonly folded: number }[] = await this.dataSource.query(
        'SELECT usage_fold_rollups($1) AS folded',
        [FOLD_AT_ONCE],
      );
      last = row?.folded ?? 0;
    }
  }

  private async countReservations(): Promise<void> {
    const [row]: readonly { readonly count: number }[] = await this.dataSource.query(
      'SELECT count(*)::integer AS count FROM usage_reservations WHERE NOT is_withdrawn',
    );
    this.observer.reservationsOpen(row?.count ?? 0);
  }
}
