import { setTimeout as sleep } from 'node:timers/promises';
import { isDataRefused } from './database-errors.js';

export interface WriteBehindOptions<Item> {
  /** All of them or none; those that were written before, once more without harm. */
  readonly write: (items: readonly Item[]) => Promise<void>;
  /** The database does not take them now; they are kept. */
  readonly onFailure: (cause: unknown, waiting: number) => void;
  /** Given up: there was no room, the database refuses them, or the time to write them is over. */
  readonly onLoss: (count: number, cause?: unknown) => void;
  readonly maxBatch: number;
  readonly maxWaiting: number;
  /** Longest wait for others to go with, where the database takes what it is given. */
  readonly gatherMs: number;
  readonly retryMs: number;
  /** Longest wait at the end for what is still to be written. */
  readonly drainMs: number;
}

/** Writes what nobody waits for: some at a time, in their order, behind the callers' backs. */
export class WriteBehind<Item> {
  /** Oldest first. */
  private waiting: Item[] = [];
  /** For want of room, since it was last told. */
  private lost = 0;
  private timer: NodeJS.Timeout | undefined;
  private writing = Promise.resolve();
  /** Full batches are being written, and those that come meanwhile go with them. */
  private isGoingOn = false;
  /** The database failed: what is waiting is tried again when it is time, and not with every further item. */
  private isPutOff = false;
  private isClosed = false;

  constructor(private readonly options: WriteBehindOptions<Item>) {}

  add(item: Item): void {
    const { maxBatch, maxWaiting, gatherMs } = this.options;
    if (this.isClosed) return this.options.onLoss(1);
    if (this.waiting.length >= maxWaiting) {
      this.lost += 1;
      return;
    }
    this.waiting.push(item);
    if (this.waiting.length >= maxBatch) this.writeFullBatches();
    else this.flushIn(gatherMs);
  }

  /** Writes what is waiting now. Never fails: what cannot be written is tried again later. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.isPutOff = false;
    this.writing = this.writing.then(() => this.write(this.waiting.length));
    return this.writing;
  }

  /** Goes on writing for a bounded time; what is left then is lost, as is all that comes later. Never fails. */
  async close(): Promise<void> {
    const cancel = new AbortController();
    await Promise.race([this.drain(cancel.signal), sleep(this.options.drainMs, undefined, { signal: cancel.signal })]);
    cancel.abort();
    clearTimeout(this.timer);
    this.isClosed = true;
    const left = this.waiting.splice(0).length;
    if (left > 0) this.options.onLoss(left);
  }

  private async drain(signal: AbortSignal): Promise<void> {
    do {
      await this.flush();
      if (this.waiting.length > 0) await sleep(this.options.retryMs, undefined, { signal }).catch(() => undefined);
    } while (this.waiting.length > 0 && !signal.aborted);
  }

  /** As soon as there are some: what waits is what V8 copies most (docs/decisions/0018-garbage-of-requests.md). */
  private writeFullBatches(): void {
    if (this.isGoingOn || this.isPutOff) return;
    this.isGoingOn = true;
    this.writing = this.writing.then(() => this.write(0));
  }

  /** So many at least, and what fills a batch. The rest waits for others, or each statement would have the few of the one before. */
  private async write(count: number): Promise<void> {
    const { maxBatch, gatherMs, retryMs, onFailure, onLoss } = this.options;
    try {
      for (let due = count; due > 0 || this.waiting.length >= maxBatch; due -= maxBatch) {
        await this.writeSome(this.waiting.slice(0, maxBatch));
        this.isPutOff = false;
      }
    } catch (cause) {
      onFailure(cause, this.waiting.length);
      this.isPutOff = true;
      clearTimeout(this.timer);
      this.timer = undefined;
      this.flushIn(retryMs);
    } finally {
      this.isGoingOn = false;
      if (this.lost > 0) onLoss(this.lost);
      this.lost = 0;
      if (this.waiting.length > 0) this.flushIn(gatherMs);
    }
  }

  private flushIn(ms: number): void {
    this.timer ??= setTimeout(() => void this.flush(), ms).unref();
  }

  /** One that the database refuses must not keep the others out: it is looked for, half by half, and given up. */
  private async writeSome(items: readonly Item[]): Promise<void> {
    try {
      await this.options.write(items);
    } catch (cause) {
      if (!isDataRefused(cause)) throw cause;
      const middle = Math.ceil(items.length / 2);
      if (middle < items.length) {
        await this.writeSome(items.slice(0, middle));
        return this.writeSome(items.slice(middle));
      }
      this.options.onLoss(items.length, cause);
    }
    // They are the first ones still.
    this.waiting.splice(0, items.length);
  }
}
