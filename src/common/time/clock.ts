import { Injectable } from '@nestjs/common';

/** The current time. Injected wherever it decides something, so that tests can stop it. */
@Injectable()
export class Clock {
  now(): Date {
    return new Date();
  }

  /** Milliseconds since an arbitrary moment, for ages and waits. Never goes back. */
  monotonic(): number {
    return performance.now();
  }
}
