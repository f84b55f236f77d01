import { Worker, type WorkerOptions } from 'node:worker_threads';
import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { describeDefect } from '../../common/errors/describe-error.js';
import { isObject } from '../../common/json/read.js';
import { LOGGER, type Logger } from '../../telemetry/logger.js';
import type { Encoding } from './encodings.js';
import { inputTexts } from './input-texts.js';

/** Longest wait of a caller, whose call would otherwise be refused. */
const MAX_WAIT_MS = 2_000;
/** The time for counting one body. Texts that are not counted by then keep their bytes as the bound. */
const BUDGET_MS = 500;
/** A thread that takes longer is stuck in a text that its tokeniser cannot split. */
const MAX_RUNNING_MS = 1_500;
/** The longest start of a thread with its tokeniser, on a busy machine. No other job runs meanwhile. */
const MAX_STARTING_MS = 10_000;
const MAX_WAITING = 16;
/** The most waiting jobs of one tenant, so that others get their turn. */
const MAX_OF_TENANT = 4;
/** The largest body. More cannot be counted in time. */
const MAX_BYTES = 4 * 1024 * 1024;
/** How long an idle thread lives. The tables of a tokeniser are large. */
const IDLE_MS = 300_000;
const MAX_HEAP_MB = 256;

interface Job {
  readonly tenant: string;
  readonly id: number;
  readonly encoding: Encoding;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly texts: Uint32Array;
  /** Receives undefined when the job was not counted. */
  readonly done: (saved: number | undefined) => void;
}

/** Counts the tokens of texts in a thread, which is started for the first job. */
@Injectable()
export class TokenCounter implements BeforeApplicationShutdown {
  private readonly waiting: Job[] = [];
  private running: Job | undefined;
  private worker: Worker | undefined;
  /** The time limit of the running job, or of an idle thread. */
  private timer: NodeJS.Timeout | undefined;
  private nextId = 1;

  constructor(@Inject(LOGGER) private readonly logger: Pick<Logger, 'warn'>) {}

  /**
   * The bytes of a request's input texts minus their tokens. Never too high: texts that are not counted in time save
   * nothing. undefined when nothing was counted. Never rejects.
   * @param tenant the tenant of the call
   */
  async savedTokens(tenant: string, body: Buffer, encoding: Encoding): Promise<number | undefined> {
    if (body.length > MAX_BYTES || !this.hasPlace(tenant)) return undefined;
    const texts = inputTexts(body);
    if (texts.length === 0) return undefined;
    // A copy, since its memory is transferred to the thread.
    const bytes = new Uint8Array(body);
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise((done) => {
        const job = { id: this.nextId, tenant, encoding, bytes, texts, done };
        this.nextId += 1;
        timer = setTimeout(() => this.giveUp(job), MAX_WAIT_MS);
        this.waiting.push(job);
        this.runNext();
      });
    } finally {
      clearTimeout(timer);
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    for (const { done } of this.waiting.splice(0)) done(undefined);
    await this.stop();
  }

  private hasPlace(tenant: string): boolean {
    if (this.waiting.length >= MAX_WAITING) return false;
    return this.waiting.filter((job) => job.tenant === tenant).length < MAX_OF_TENANT;
  }

  private runNext(): void {
    if (this.running !== undefined) return;
    const job = this.waiting.shift();
    clearTimeout(this.timer);
    if (job === undefined) {
      this.timer = setTimeout(() => void this.stop(), IDLE_MS).unref();
      return;
    }
    this.running = job;
    this.worker ??= this.start();
    const { id, encoding, bytes, texts } = job;
    this.worker.postMessage({ id, encoding, bytes, texts, budgetMs: BUDGET_MS }, [bytes.buffer]);
    this.timer = setTimeout(() => {
      this.logger.warn({ event: 'token_counter_failed', error: `no start within ${MAX_STARTING_MS} ms` });
      void this.stop();
    }, MAX_STARTING_MS).unref();
  }

  protected newThread(options: WorkerOptions): Worker {
    return new Worker(new URL('./token-counter.worker.js', import.meta.url), options);
  }

  private start(): Worker {
    const resourceLimits = { maxOldGenerationSizeMb: MAX_HEAP_MB };
    const worker = this.newThread({ execArgv: [], env: {}, resourceLimits });
    worker.unref();
    worker.on('message', (message: unknown) => this.note(message));
    worker.on('error', (cause) => {
      this.logger.warn({ event: 'token_counter_failed', error: describeDefect(cause) });
      this.lose(worker);
    });
    worker.on('exit', () => this.lose(worker));
    return worker;
  }

  /** The first message of a job reports that its tokeniser is ready, the second its result. */
  private note(message: unknown): void {
    const { running } = this;
    if (!isObject(message) || running === undefined || message['id'] !== running.id) return;
    const { saved } = message;
    clearTimeout(this.timer);
    if (typeof saved !== 'number') {
      this.timer = setTimeout(() => void this.stop(), MAX_RUNNING_MS);
      return;
    }
    this.running = undefined;
    running.done(saved);
    this.runNext();
  }

  private giveUp(job: Job): void {
    const at = this.waiting.indexOf(job);
    if (at >= 0) this.waiting.splice(at, 1);
    // A running job continues, since its thread may still be starting.
    job.done(undefined);
  }

  private async stop(): Promise<void> {
    const { worker } = this;
    if (worker === undefined) return;
    this.lose(worker);
    await worker.terminate();
  }

  /** Discards a thread. The next job starts another one. */
  private lose(worker: Worker): void {
    if (this.worker !== worker) return;
    this.worker = undefined;
    clearTimeout(this.timer);
    const { running } = this;
    this.running = undefined;
    running?.done(undefined);
    if (this.waiting.length > 0) this.runNext();
  }
}
