import { setTimeout as sleep } from 'node:timers/promises';
import { isDataRefused } from '../database/database-errors.js';
import type { BatchConnection } from './batch-connection.js';
import type { UsageObserver } from './usage-observer.js';
import type { UsageWork } from './usage-work.js';

const MAX_WAITING = 100_000;

export interface WithdrawalOptions {
  readonly maxBatch: number;
  readonly retryPauseMs: number;
}

/**
 * Withdraws reservations whose calls were refused although a statement may still write them. Separate from all other work:
 * that statement may be stuck, and the withdrawal has to wait for it.
 */
export class ReservationRollbacks {
  private waiting: UsageWork[] = [];
  private running: Promise<void> | undefined;
  private isClosed = false;

  constructor(
    private readonly connection: Pick<BatchConnection, 'run'>,
    private readonly observer: Pick<UsageObserver, 'batchFailed' | 'dropped'>,
    private readonly options: WithdrawalOptions,
  ) {}

  add(work: UsageWork): void {
    if (this.isClosed || this.waiting.length >= MAX_WAITING) return this.observer.dropped(1);
    this.waiting.push(work);
    this.running ??= this.run();
  }

  /** Resolves when nothing is waiting. */
  async drained(): Promise<void> {
    await this.running;
  }

  /** Remaining reservations are presumed spent if they were written. */
  close(): void {
    this.isClosed = true;
    if (this.waiting.length > 0) this.observer.dropped(this.waiting.length);
    this.waiting = [];
  }

  private async run(): Promise<void> {
    // Withdrawals of the same turn of the event loop join this batch.
    await Promise.resolve();
    while (this.waiting.length > 0) {
      const batch = this.waiting.slice(0, this.options.maxBatch);
      const isDone = await this.send(batch);
      if (isDone) this.waiting = this.waiting.slice(batch.length);
      else await sleep(this.options.retryPauseMs, undefined, { ref: false });
    }
    this.running = undefined;
  }

  /** Returns false when the batch must be tried again. */
  private async send(batch: readonly UsageWork[]): Promise<boolean> {
    try {
      await this.connection.run(batch);
      return true;
    } catch (error) {
      if (!isDataRefused(error)) {
        this.observer.batchFailed(error);
        return false;
      }
    }
    if (batch.length === 1) {
      this.observer.dropped(1);
      return true;
    }
    // Withdrawing twice changes nothing.
    for (const work of batch) if (!(await this.send([work]))) return false;
    return true;
  }
}
