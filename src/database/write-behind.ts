import { setTimeout as sleep } from 'node:timers/promises';
import { isDataRefused } from './database-errors.js';

export interface WriteBehindOptions<Item, Row> {
  /** What is kept of an item until it is written. */
  readonly prepare: (item: Item) => Row;
  /** All of them or none; those that were written before, once more without harm. */
  readonly write: (rows: readonly Row[]) => Promise<void>;
  /** The database does not take them now; they are kept. */
  readonly onFailure: (cause: unknown, waiting: number) => void;
  /** Given up: there was no room, the database refuses them, or the time to write them is over. */
  readonly onLoss: (count: number, cause?: unknown) => void;
  readonly maxBatch: number;
  readonly maxWaiting: number;
  /** Of a row; with it, `maxWaiting` is the sum of these. Default: 1. */
  readonly sizeOf?: (row: Row) => number;
  /** Longest wait for others to go with, where the database takes what it is given. */
  readonly gatherMs: number;
  /** Between a write that failed and the next. */
  readonly retryPauseMs: number;
  /** Longest wait at the end for what is still to be written. */
  readonly drainMs: number;
}

/** At the end there is little time. */
const MAX_PAUSE_AT_END_MS = 250;

/** Write-behind buffer: writes rows in batches and in their order, after the answer. */
export class WriteBehind<Item, Row> {
  /** Oldest first. */
  private waiting: Row[] = [];
  /** The sum of their sizes. */
  private size = 0;
  /** Without room, since losses were last reported. */
  private lost = 0;
  /** Until the next run; there is none while one is in progress. */
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  /** The database failed: what is waiting is tried again when it is time, and not with every further item. */
  private isPutOff = false;
  private closing: Promise<void> | undefined;
  private isClosed = false;

  constructor(private readonly options: WriteBehindOptions<Item, Row>) {}

  /** False: there is no room for it. */
  add(item: Item): boolean {
    const { prepare, maxBatch, maxWaiting, gatherMs, onLoss } = this.options;
    if (this.isClosed) {
      onLoss(1);
      return false;
    }
    if (this.size >= maxWaiting) {
      this.lost += 1;
      return false;
    }
    const row = prepare(item);
    this.waiting.push(row);
    this.size += this.sizeOf(row);
    if (this.running !== undefined || this.isPutOff) return true;
    if (this.waiting.length >= maxBatch) this.start('full batches');
    else this.timer ??= this.startIn(gatherMs);
    return true;
  }

  private sizeOf(row: Row): number {
    return this.options.sizeOf === undefined ? 1 : this.options.sizeOf(row);
  }

  /** The oldest ones. */
  private drop(count: number): void {
    for (const row of this.waiting.splice(0, count)) this.size -= this.sizeOf(row);
  }

  /** Writes what is waiting now. Never fails: what cannot be written is tried again later. */
  async flush(): Promise<void> {
    await this.running;
    this.start('all');
    await this.running;
  }

  /** Goes on writing for a bounded time; what is left then is lost, as is all that comes later. Never fails. */
  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  private async end(): Promise<void> {
    const cancel = new AbortController();
    const limit = sleep(this.options.drainMs, undefined, { signal: cancel.signal }).catch(() => undefined);
    await Promise.race([this.drain(cancel.signal), limit]);
    cancel.abort();
    this.isClosed = true;
    clearTimeout(this.timer);
    this.lost += this.waiting.length;
    this.drop(this.waiting.length);
    this.tellLoss();
  }

  private async drain(signal: AbortSignal): Promise<void> {
    const pauseMs = Math.min(this.options.retryPauseMs, MAX_PAUSE_AT_END_MS);
    await this.flush();
    while (this.waiting.length > 0) {
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
      await this.flush();
    }
  }

  private startIn(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.start('all'), ms).unref();
  }

  private start(what: 'all' | 'full batches'): void {
    if (this.running !== undefined || this.isClosed) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.running = this.run(what);
  }

  private async run(what: 'all' | 'full batches'): Promise<void> {
    const { gatherMs, retryPauseMs, onFailure } = this.options;
    // Those that come in this turn of the event loop go with it.
    await Promise.resolve();
    try {
      await this.writeDue(what === 'all' ? this.waiting.length : 0);
      this.isPutOff = false;
    } catch (cause) {
      this.isPutOff = true;
      if (!this.isClosed) onFailure(cause, this.waiting.length);
    }
    this.tellLoss();
    this.running = undefined;
    if (this.waiting.length > 0) this.timer = this.startIn(this.isPutOff ? retryPauseMs : gatherMs);
  }

  /** So many, and what fills a batch: the rest gathers, or each statement would have the few of the one before. */
  private async writeDue(count: number): Promise<void> {
    const { maxBatch } = this.options;
    for (let due = count; due > 0 || this.waiting.length >= maxBatch; due -= maxBatch) {
      await this.writeSome(this.waiting.slice(0, maxBatch));
    }
  }

  /** One that the database refuses must not keep the others out: it is looked for, half by half, and given up. */
  private async writeSome(rows: readonly Row[]): Promise<void> {
    // What was waiting is lost then, and told.
    if (this.isClosed) return;
    try {
      await this.options.write(rows);
    } catch (cause) {
      if (!isDataRefused(cause)) throw cause;
      const middle = Math.ceil(rows.length / 2);
      if (middle < rows.length) {
        await this.writeSome(rows.slice(0, middle));
        return this.writeSome(rows.slice(middle));
      }
      if (!this.isClosed) this.options.onLoss(rows.length, cause);
    }
    // They are the first ones still.
    this.drop(rows.length);
  }

  private tellLoss(): void {
    if (this.lost > 0) this.options.onLoss(this.lost);
    this.lost = 0;
  }
}
