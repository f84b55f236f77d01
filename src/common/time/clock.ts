import { Injectable } from '@nestjs/common';

/** The time, passed in wherever it decides something, so that tests can stop it. */
@Injectable()
export class Clock {
  now(): Date {
    return new Date();
  }
}
