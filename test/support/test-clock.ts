import { Clock } from '../../src/common/time/clock.js';

interface Readings {
  now(): number;
  monotonic(): number;
}

const REAL: Readings = { now: () => Date.now(), monotonic: () => performance.now() };

/** The real time, plus the offset of a test. */
export class TestClock extends Clock {
  private offsetMs = 0;
  private setBackMs = 0;

  /** @param real the times without the offset */
  constructor(private readonly real: Readings = REAL) {
    super();
  }

  /** One that stands still unless a test advances it: for tests that come close to a limit. */
  static still(): TestClock {
    // Whole milliseconds: of a fraction, ten seconds later can be a little less than that, by rounding.
    const [now, monotonic] = [Date.now(), Math.ceil(performance.now())];
    return new TestClock({ now: () => now, monotonic: () => monotonic });
  }

  override now(): Date {
    return new Date(this.real.now() + this.offsetMs - this.setBackMs);
  }

  override monotonic(): number {
    return this.real.monotonic() + this.offsetMs;
  }

  /** Simulates a correction of the machine's clock: the monotonic time does not change. */
  setBack(milliseconds: number): void {
    this.setBackMs += milliseconds;
  }

  advance(milliseconds: number): void {
    this.offsetMs += milliseconds;
  }
}
