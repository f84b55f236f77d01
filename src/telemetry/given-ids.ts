import { type IdGenerator, RandomIdGenerator } from '@opentelemetry/sdk-trace-node';
import type { TraceHeaders } from './trace-headers.js';

type Ids = Pick<TraceHeaders, 'w3cTraceId' | 'w3cSpanId'>;

/** Random ids, except for spans that have theirs before they start: those that are logged and sent on. */
export class GivenIds implements IdGenerator {
  private readonly random = new RandomIdGenerator();
  private given: Ids | undefined;

  /** `start` must start its span before it returns. */
  during<Started>(ids: Ids, start: () => Started): Started {
    this.given = ids;
    try {
      return start();
    } finally {
      this.given = undefined;
    }
  }

  generateTraceId(): string {
    return this.given?.w3cTraceId ?? this.random.generateTraceId();
  }

  generateSpanId(): string {
    return this.given?.w3cSpanId ?? this.random.generateSpanId();
  }
}
