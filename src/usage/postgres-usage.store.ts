import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import type { Clock } from '../common/time/clock.js';
import { isDataRefused } from '../database/database-errors.js';
import { BatchConnection, NotSentError } from './batch-connection.js';
import { admissionOutcomes, limitOf } from './usage-batch.js';
import type { UsageObserver } from './usage-observer.js';
import {
  type Adjustment,
  type BucketDeletion,
  type BucketKey,
  type ExtendOutcome,
  type Extension,
  type LimitChange,
  type Reservation,
  type ReserveOutcome,
  type Retraction,
  type Settlement,
  StoreUnavailableError,
  type Transaction,
  type UnlimitedUsage,
  type UsageStore,
} from './usage-store.types.js';
import { LedgerWriter } from './ledger-writer.js';
import { tokensOf, toQuantitiesJson } from './units.js';
import { type Admission, asRecord, assertCountable, isAdmission, type UsageWork } from './usage-work.js';
import { type QueuedWork, WorkQueue } from './work-queue.js';
import { ReservationRollbacks } from './reservation-rollbacks.js';

const MAX_QUEUED = { admissions: 10_000, kept: 100_000, notes: 100_000 } as const;
const REAP_AT_ONCE = 500;
/**
 * The shortest time for which a release of an unknown reservation is remembered, since its statement may be stuck for
 * longer than a short lease.
 */
const RELEASED_MS = 600_000;

export interface PostgresUsageStoreOptions {
  /** The most buckets of a policy in one window. */
  readonly maxBuckets?: number;
  readonly maxBatch?: number;
  /** Longest wait for an admission. */
  readonly reserveTimeoutMs?: number;
  /** Longest wait for the database's answer to one batch; undefined for the embedded one, which always answers. */
  readonly batchTimeoutMs?: number | undefined;
  readonly retryPauseMs?: number;
  /** How long rows of unlimited usage wait for others. */
  readonly gatherMs?: number;
  /** Longest wait at shutdown for pending writes. */
  readonly drainMs?: number;
}

const DEFAULTS = {
  maxBuckets: 100_000,
  maxBatch: 500,
  reserveTimeoutMs: 1_500,
  batchTimeoutMs: 2_000,
  retryPauseMs: 250,
  gatherMs: 200,
  drainMs: 5_000,
} as const;

/**
 * Counts usage in PostgreSQL. One statement takes all waiting work; the next one is sent when it has returned. A single
 * call is sent at once. Under load, hundreds of calls share a round trip, a commit and the lock of a busy row.
 * Unlimited usage is written separately, after the answer, as plain rows.
 */
export class PostgresUsageStore implements UsageStore {
  private readonly options: Required<PostgresUsageStoreOptions>;
  private readonly connection: BatchConnection;
  private readonly withdrawals: ReservationRollbacks;
  private readonly notes: LedgerWriter;
  private readonly queue = new WorkQueue(MAX_QUEUED.admissions, MAX_QUEUED.kept);
  private running: Promise<void> | undefined;
  /** The error of the last statement, if it failed. It explains why the admissions after it are too late. */
  private lastFailure: unknown;
  private state: 'open' | 'draining' | 'closed' = 'open';

  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
    private readonly observer: UsageObserver,
    options: PostgresUsageStoreOptions = {},
  ) {
    this.options = { ...DEFAULTS, ...options };
    this.connection = new BatchConnection(dataSource, this.options.maxBuckets, this.options.batchTimeoutMs);
    this.withdrawals = new ReservationRollbacks(this.connection, observer, this.options);
    this.notes = new LedgerWriter(dataSource, observer, { ...this.options, maxWaiting: MAX_QUEUED.notes });
  }

  async reserve(reservation: Reservation): Promise<ReserveOutcome> {
    assertCountable(reservation.bound);
    const outcome = await this.admit({ kind: 'reserve', id: reservation.id, reservation }).catch((error: unknown) => {
      if (error instanceof StoreUnavailableError) this.observer.decided('unavailable');
      throw error;
    });
    if (outcome.kind === 'gone') throw new StoreUnavailableError();
    this.observer.decided(outcome.kind);
    return outcome;
  }

  async extend(extension: Extension): Promise<ExtendOutcome> {
    assertCountable(extension.bound);
    return this.admit({ kind: 'extend', id: extension.reservation.id, extension });
  }

  async prolong(id: string, expiresAt: Date): Promise<void> {
    await this.dataSource.query(PROLONG, [id, expiresAt]);
  }

  async retract({ id, bound, to }: Retraction): Promise<void> {
    const before = [to.costNano, tokensOf(to.quantities), JSON.stringify(toQuantitiesJson(to.quantities))];
    const parameters = [id, bound.costNano, tokensOf(bound.quantities), ...before];
    await this.dataSource.query('SELECT usage_retract($1, $2, $3, $4, $5, $6)', parameters);
  }

  async settle(settlement: Settlement): Promise<void> {
    assertCountable(settlement.figures);
    await this.write({ kind: 'settle', id: settlement.reservation.id, settlement });
  }

  async release(id: string, at: Date): Promise<void> {
    await this.write({ kind: 'release', id, at, expiresAt: this.inFuture(RELEASED_MS), isFinal: false });
  }

  record(usage: UnlimitedUsage): void {
    this.notes.add(usage);
  }

  flush(): Promise<void> {
    return this.notes.flush();
  }

  async reap(now: Date): Promise<number> {
    let count = 0;
    for (let last = REAP_AT_ONCE; last === REAP_AT_ONCE; count += last) {
      const [row]: readonly { readonly reaped: number }[] = await this.dataSource.query(
        'SELECT usage_reap($1, $2) AS reaped',
        [now, REAP_AT_ONCE],
      );
      last = row?.reaped ?? 0;
    }
    if (count > 0) this.observer.reaped(count);
    return count;
  }

  async reset(
    bucket: BucketKey,
    { organisationId, actorId, reason, at }: Adjustment,
    transaction: Transaction = this.dataSource,
  ): Promise<boolean> {
    const [row]: readonly { readonly found: boolean }[] = await transaction.query(
      'SELECT usage_reset($1, $2, $3, $4, $5, $6, $7) AS found',
      [bucket.policyId, bucket.bucketHash, bucket.windowId, organisationId, actorId, reason, at],
    );
    return row?.found === true;
  }

  async deleteBucket(
    { policyId, bucketHash, windowId }: BucketKey,
    organisationId: string,
    transaction: Transaction = this.dataSource,
  ): Promise<BucketDeletion> {
    const [row]: readonly { readonly result: BucketDeletion }[] = await transaction.query(
      'SELECT usage_delete_bucket($1, $2, $3, $4) AS result',
      [policyId, bucketHash, windowId, organisationId],
    );
    return row?.result ?? 'missing';
  }

  async changeLimit(change: LimitChange, transaction: Transaction = this.dataSource): Promise<void> {
    const { organisationId, policyId, windowId, threshold = null } = change;
    const parameters = [policyId, windowId, organisationId, limitOf(change), threshold];
    await transaction.query('SELECT usage_change_limit($1, $2, $3, $4, $5)', parameters);
  }

  async close(): Promise<void> {
    this.state = 'draining';
    this.start();
    const cancel = new AbortController();
    const limit = sleep(this.options.drainMs, undefined, { signal: cancel.signal }).catch(() => undefined);
    const notesAreWritten = this.notes.close();
    await Promise.race([Promise.all([this.running, this.withdrawals.drained()]), limit]);
    await notesAreWritten;
    cancel.abort();
    this.state = 'closed';
    this.abandon();
    this.withdrawals.close();
  }

  /** Gives up work that could not be written in time. */
  private abandon(): void {
    const left = this.queue.clear();
    if (left.length > 0) this.observer.dropped(left.length);
    for (const item of left) item.failed(new StoreUnavailableError());
  }

  private admit(work: Admission): Promise<ExtendOutcome> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => item.failed(this.lateness()), this.options.reserveTimeoutMs);
      const end = (): void => {
        clearTimeout(timer);
        item.isGivenUp = true;
      };
      const item: QueuedWork = {
        work,
        isGivenUp: false,
        mayBeWritten: false,
        done: (outcome) => {
          // The caller was already refused. An extension may stay, since its call settles the whole reservation.
          if (item.isGivenUp) return work.kind === 'reserve' ? this.withdraw(work.reservation) : undefined;
          end();
          if (outcome !== undefined) resolve(outcome);
        },
        failed: (error) => {
          end();
          reject(error);
        },
      };
      this.enqueue(item);
    });
  }

  private lateness(): StoreUnavailableError {
    const late = new Error(`no admission within ${this.options.reserveTimeoutMs} ms`);
    return new StoreUnavailableError({ cause: this.lastFailure ?? late });
  }

  /** Resolves when the work is written, however long that takes. */
  private write(work: UsageWork): Promise<void> {
    return new Promise((resolve, reject) => {
      this.enqueue({ work, isGivenUp: false, mayBeWritten: false, done: () => resolve(), failed: reject });
    });
  }

  private enqueue(item: QueuedWork): void {
    const isOpen = this.state === 'open' || (this.state === 'draining' && !isAdmission(item.work));
    if (!isOpen || !this.queue.add(item)) {
      if (!isAdmission(item.work)) this.observer.dropped(1);
      return item.failed(new StoreUnavailableError());
    }
    this.start();
  }

  private start(): void {
    this.running ??= this.run();
  }

  private async run(): Promise<void> {
    // Work of the same turn of the event loop joins this batch.
    await Promise.resolve();
    do {
      const isDone = await this.send(this.queue.take(this.options.maxBatch));
      if (!isDone && this.state !== 'closed') await sleep(this.options.retryPauseMs, undefined, { ref: false });
    } while (this.state !== 'closed' && !this.queue.isEmpty);
    // Set in the turn in which the queue was read, so that later work starts the loop again.
    this.running = undefined;
    // The work of a statement that was in flight when the store closed may be back in the queue.
    if (this.state === 'closed') this.abandon();
  }

  /** Returns false when the database was unreachable twice. */
  private async send(batch: readonly QueuedWork[]): Promise<boolean> {
    if (batch.length === 0) return true;
    for (let triesLeft = 1; ; triesLeft -= 1) {
      try {
        await this.sendOnce(batch);
        return true;
      } catch (error) {
        if (isDataRefused(error)) return this.isolate(batch, error);
        this.lastFailure = error;
        if (!(error instanceof NotSentError)) for (const item of batch) item.mayBeWritten = true;
        if (triesLeft > 0) continue;
        this.putOff(batch, error);
        return false;
      }
    }
  }

  private async sendOnce(batch: readonly QueuedWork[]): Promise<void> {
    const works = batch.map(({ work }) => work);
    const started = performance.now();
    const row = await this.connection.run(works);
    this.lastFailure = undefined;
    this.observer.batchDone(batch.length, (performance.now() - started) / 1_000);
    const outcomes = admissionOutcomes(works, row)[Symbol.iterator]();
    const lost = new Set(row.o_lost);
    for (const item of batch) {
      const { work } = item;
      if (isAdmission(work)) answer(item, outcomes.next().value);
      else if (work.kind === 'settle' && lost.has(work.id)) this.enqueue({ ...item, work: asRecord(work.settlement) });
      else item.done();
    }
  }

  /** Sends each work separately, so that one call cannot fail the others. */
  private async isolate(batch: readonly QueuedWork[], cause: unknown): Promise<boolean> {
    const [first, ...rest] = batch;
    if (first !== undefined && rest.length === 0) {
      if (!isAdmission(first.work)) this.observer.dropped(1);
      first.failed(new Error('the database refuses this usage', { cause }));
      return true;
    }
    const half = Math.ceil(batch.length / 2);
    const isFirstDone = await this.send(batch.slice(0, half));
    return (await this.send(batch.slice(half))) && isFirstDone;
  }

  private putOff(batch: readonly QueuedWork[], cause: unknown): void {
    this.observer.batchFailed(cause);
    this.queue.putBack(batch.filter(({ work }) => !isAdmission(work)));
    for (const item of batch) {
      if (!isAdmission(item.work)) continue;
      if (item.mayBeWritten && item.work.kind === 'reserve') this.withdraw(item.work.reservation);
      item.failed(new StoreUnavailableError({ cause }));
    }
  }

  /** Withdraws a reservation whose statement gave no answer, since it may have been written or may still be. */
  private withdraw({ id, at, leaseMs }: Reservation): void {
    const expiresAt = this.inFuture(Math.max(leaseMs, RELEASED_MS));
    this.withdrawals.add({ kind: 'release', id, at, expiresAt, isFinal: true });
  }

  private inFuture(ms: number): Date {
    return new Date(this.clock.now().getTime() + ms);
  }
}

const PROLONG = `
  UPDATE "usage_reservations" SET "expires_at" = GREATEST("expires_at", $2::timestamptz) WHERE "id" = $1 AND NOT "is_withdrawn"`;

function answer(item: QueuedWork, outcome: ExtendOutcome | undefined): void {
  if (outcome === undefined) item.failed(new StoreUnavailableError());
  else item.done(outcome);
}
