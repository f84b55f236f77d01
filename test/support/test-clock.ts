import { Clock } from '../../src/common/time/clock.js';

/** The real time, plus what a test adds to it. */
export class TestClock extends Clock {
  private offsetMs = 0;

  override now(): Date {
    return new Date(Date.now() + this.offsetMs);
  }

  override monotonic(): number {
    return performance.now() + this.offsetMs;
  }

  advance(milliseconds: number): void {
    this.offsetMs += milliseconds;
  }
}
