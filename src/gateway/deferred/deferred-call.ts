import type { AttemptObserver, UpstreamAttempt } from '../../upstream/upstream.types.js';
import type { Reservation } from '../../usage/usage-store.types.js';
import type { DeferredMeter } from './deferred-meter.js';
import type { JobPart } from './provider-job.entity.js';
import type { MeteredJob, NewJob } from './provider-job.store.js';
import { type AttemptResult, outcomeOfAttempt } from '../call-cost.js';

/** The request that starts a job, or goes on with one: what is reserved for it, and how its attempts ended. */
export class DeferredCall implements AttemptObserver {
  #result: AttemptResult = 'nothing_sent';
  /** Once a stream has named the job: resolves when that is written down. */
  named: Promise<void> | undefined;

  constructor(
    readonly meter: DeferredMeter,
    readonly job: MeteredJob,
    /** undefined: the job was known before. */
    readonly made: MadeJob | undefined,
    /** Of a job that was known before; undefined: the request needs nothing more. */
    readonly raised?: RaisedPart,
  ) {}

  after(attempt: UpstreamAttempt): void {
    this.#result = outcomeOfAttempt(attempt);
  }

  /** Of the last attempt. */
  get result(): AttemptResult {
    return this.#result;
  }
}

/** The part of a job for which more was reserved, so that the job can go on. */
export interface RaisedPart {
  readonly before: JobPart;
  readonly after: JobPart;
}

/** A job that is new to the gateway. */
export interface MadeJob {
  readonly job: NewJob;
  /** Reservations of those parts of the job that limits apply to. */
  readonly reserved: readonly Reservation[];
  /** The others. */
  readonly unlimited: readonly Reservation[];
  /** false: the database is away, and nothing is known of the job. */
  readonly isRecorded: boolean;
}
