import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { describeDefect } from '../common/errors/describe-error.js';
import type { Clock } from '../common/time/clock.js';
import { WakeableLoop } from '../common/time/wakeable-loop.js';

const INTERVAL_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Small enough for the time limit of a statement, and for others not to wait behind it. */
const BATCH_ROWS = 1_000;

export interface RetentionOptions {
  readonly database: Pick<DataSource, 'query'>;
  readonly clock: Clock;
  readonly logger: { warn(line: object): void };
  /** undefined: nothing is deleted. */
  readonly keptDays: number | undefined;
  /** Of the log line of a sweep that failed. */
  readonly failureEvent: string;
}

/** Deletes rows that are past their time: at the start, then every hour. A replica may do so beside others. */
export abstract class Retention implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop = new WakeableLoop(() => this.sweep(), INTERVAL_MS);

  constructor(private readonly options: RetentionOptions) {}

  onApplicationBootstrap(): void {
    this.loop.wake();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.loop.stop();
  }

  /** Never rejects: what was deleted stays so, and the next sweep goes on from there. */
  async sweep(): Promise<void> {
    const { clock, keptDays, logger, failureEvent } = this.options;
    if (keptDays === undefined) return;
    try {
      await this.deleteBefore(new Date(clock.now().getTime() - keptDays * DAY_MS));
    } catch (cause) {
      logger.warn({ event: failureEvent, error: describeDefect(cause) });
    }
  }

  protected abstract deleteBefore(time: Date): Promise<void>;

  /** The rest can wait until the next start; calls in flight cannot. */
  protected get isStopping(): boolean {
    return this.loop.isStopped;
  }

  protected get signal(): AbortSignal {
    return this.loop.signal;
  }

  /** @param statement deletes rows of before `$1`, at most `$2` of them; taken again until none is left */
  protected async deleteInBatches(statement: string, time: Date): Promise<void> {
    let deleted = BATCH_ROWS;
    while (deleted === BATCH_ROWS && !this.isStopping) {
      [, deleted] = await this.options.database.query<[unknown, number]>(statement, [time, BATCH_ROWS]);
    }
  }
}
