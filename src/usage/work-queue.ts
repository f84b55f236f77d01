import type { ExtendOutcome } from './usage-store.types.js';
import { isAdmission, type UsageWork } from './usage-work.js';

/** Work that waits for its batch, with the callbacks for its caller. */
export interface QueuedWork {
  readonly work: UsageWork;
  /** Whether the caller has stopped waiting. */
  isGivenUp: boolean;
  /** Whether a statement with it was sent and the answer is unknown. */
  mayBeWritten: boolean;
  done(outcome?: ExtendOutcome): void;
  failed(error: Error): void;
}

/** Admissions, whose callers wait, and other work, which is kept until it is written; each in order of arrival. */
export class WorkQueue {
  private admissions: QueuedWork[] = [];
  private kept: QueuedWork[] = [];

  constructor(
    private readonly maxAdmissions: number,
    private readonly maxKept: number,
  ) {}

  get isEmpty(): boolean {
    return this.admissions.length === 0 && this.kept.length === 0;
  }

  /** Adds an item. Returns whether there was room. */
  add(item: QueuedWork): boolean {
    const [lane, max] = isAdmission(item.work) ? [this.admissions, this.maxAdmissions] : [this.kept, this.maxKept];
    if (lane.length >= max) return false;
    lane.push(item);
    return true;
  }

  /** Takes items for the next batch: half of each kind, when there are enough of both. */
  take(max: number): readonly QueuedWork[] {
    this.admissions = this.admissions.filter((item) => !item.isGivenUp);
    const half = Math.floor(max / 2);
    const taken = new Map<string, QueuedWork>();
    this.kept = takeFrom(this.kept, Math.max(half, max - this.admissions.length), taken);
    this.admissions = takeFrom(this.admissions, max - taken.size, taken);
    return [...taken.values()];
  }

  /** Returns items to the front of the queue. */
  putBack(items: readonly QueuedWork[]): void {
    this.kept = [...items, ...this.kept];
  }

  /** Removes and returns all items. */
  clear(): readonly QueuedWork[] {
    const left = [...this.kept, ...this.admissions];
    this.kept = [];
    this.admissions = [];
    return left;
  }
}

/** Moves at most `max` items, one for each id, and returns those that stay. */
function takeFrom(lane: QueuedWork[], max: number, taken: Map<string, QueuedWork>): QueuedWork[] {
  const twins: QueuedWork[] = [];
  for (const item of lane.splice(0, max)) {
    if (taken.has(item.work.id)) twins.push(item);
    else taken.set(item.work.id, item);
  }
  return twins.length === 0 ? lane : [...twins, ...lane];
}
