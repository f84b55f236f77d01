import { Clock } from '../../src/common/time/clock.js';

/** The real time, plus what a test adds to it. */
export class TestClock extends Clock {
  private offsetMs = 0;
  private setBackMs = 0;

  override now(): Date {
    return new Date(Date.now() + this.offsetMs - this.setBackMs);
  }

  override monotonic(): number {
    return performance.now() + this.offsetMs;
  }

  /** As when somebody puts the time of the machine right: no less time has passed for it. */
  setBack(milliseconds: number): void {
    this.setBackMs += milliseconds;
  }

  advance(milliseconds: number): void {
    this.offsetMs += milliseconds;
  }
}
