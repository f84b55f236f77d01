import { Injectable } from '@nestjs/common';

/** The time, passed in wherever it decides something, so that tests can stop it. */
@Injectable()
export class Clock {
  now(): Date {
    return new Date();
  }

  /** Milliseconds since some moment, for ages and waits: nobody can set it back. */
  monotonic(): number {
    return performance.now();
  }
}
