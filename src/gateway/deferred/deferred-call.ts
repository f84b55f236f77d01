import type { AttemptObserver, UpstreamAttempt } from '../../upstream/upstream.types.js';
import type { Reservation } from '../../usage/usage-store.types.js';
import type { DeferredMeter } from './deferred-meter.js';
import type { JobPart } from './provider-job.entity.js';
import type { MeteredJob, NewJob } from './provider-job.store.js';
import { type AttemptResult, outcomeOfAttempt } from '../call-cost.js';

/** A request that starts or continues a job: its reservations, and the result of its attempts. */
export class DeferredCall implements AttemptObserver {
  #result: AttemptResult = 'nothing_sent';
  /** Set when a stream has named the job. Resolves when the id is stored. */
  named: Promise<void> | undefined;

  constructor(
    readonly meter: DeferredMeter,
    readonly job: MeteredJob,
    /** undefined when the job was known before. */
    readonly made: MadeJob | undefined,
    /** For a job that was known before; undefined when the request needs no further reservation. */
    readonly raised?: RaisedPart,
  ) {}

  after(attempt: UpstreamAttempt): void {
    this.#result = outcomeOfAttempt(attempt);
  }

  /** The result of the last attempt. */
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
  /** The reservations of parts that limits apply to. */
  readonly reserved: readonly Reservation[];
  /** The reservations of all other parts. */
  readonly unlimited: readonly Reservation[];
  /** false when the database is unreachable, so that the job is not stored. */
  readonly isRecorded: boolean;
}
