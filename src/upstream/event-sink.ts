import type { Writable } from 'node:stream';
import type { AnswerSink, BodyWatcher } from './stream-exchange.js';
import { type BodyFilter, UpstreamFailure } from './upstream.types.js';

/** The longest end of an event: the end of its last line and a blank one. */
const LONGEST_END = 3;
const EVENT_END = /(?:\n|\r(?!\n))(?:\r\n|\r|\n)$/;

/** A sink of a stream of events. When the stream falls silent between two events, its owner may still add one. */
export class EventSink implements AnswerSink {
  readonly watcher = new EventBoundary();

  constructor(
    readonly stream: Writable,
    readonly filter: BodyFilter | undefined,
    readonly pauseMs: number,
    readonly idleMs: number,
  ) {}

  readonly isLeftOpen = (error: unknown): boolean =>
    this.watcher.isHere && error instanceof UpstreamFailure && error.kind === 'timeout';
}

/** Reports whether a stream of events is between two events. Lines end in LF, CR or CRLF (WHATWG HTML, 9.2.5). */
export class EventBoundary implements BodyWatcher {
  /** The beginning of a stream is one. */
  #tail = '\n\n';

  get isHere(): boolean {
    return EVENT_END.test(this.#tail);
  }

  push(chunk: Buffer): void {
    const last = chunk.toString('latin1', Math.max(0, chunk.length - LONGEST_END));
    this.#tail = (this.#tail + last).slice(-LONGEST_END);
  }

  end(): void {
    // A stream that ends in the middle of an event is not between two.
  }
}
