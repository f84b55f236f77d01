import { Clock } from '../../src/common/time/clock.js';

/** The real time, plus the offset of a test. */
export class TestClock extends Clock {
  private offsetMs = 0;
  private setBackMs = 0;

  override now(): Date {
    return new Date(Date.now() + this.offsetMs - this.setBackMs);
  }

  override monotonic(): number {
    return performance.now() + this.offsetMs;
  }

  /** Simulates a correction of the machine's clock: the monotonic time does not change. */
  setBack(milliseconds: number): void {
    this.setBackMs += milliseconds;
  }

  advance(milliseconds: number): void {
    this.offsetMs += milliseconds;
  }
}
