import type { Writable } from 'node:stream';
import type { AnswerSink, BodyWatcher } from './stream-exchange.js';
import type { EventFraming } from './event-framing.js';
import { FrameSplitter } from './streams/frame-splitter.js';
import { type BodyFilter, UpstreamFailure } from './upstream.types.js';

const NO_BYTES = Buffer.alloc(0);
/** The longest end of an event: the end of its last line and a blank one. */
const LONGEST_END = 3;
const EVENT_END = /(?:\n|\r(?!\n))(?:\r\n|\r|\n)$/;

/** A comment, which readers skip (WHATWG HTML, 9.2.6). */
const COMMENT = ': keep-alive\n\n';

export interface EventTimes {
  /** As in `AnswerSink`. */
  readonly pauseMs: number;
  /** As in `AnswerSink`. */
  readonly idleMs: number;
  /** The silence after which a comment is written, since proxies and clients give up a silent connection. 0: none. Frames have no comments. */
  readonly keepAliveMs: number;
}

/** A sink of a stream of events. When the stream fails between two events, its owner may still add one. */
export class EventSink implements AnswerSink {
  readonly #boundary: Boundary;
  readonly filter: BodyFilter;
  readonly watcher: BodyWatcher | undefined;
  readonly pauseMs: number;
  readonly idleMs: number;

  /** @param filter by default, all bytes are forwarded */
  constructor(
    readonly stream: Writable,
    filter: BodyFilter | undefined,
    { pauseMs, idleMs, keepAliveMs }: EventTimes,
    framing: EventFraming = 'server-sent',
  ) {
    this.#boundary = framing === 'aws' ? new FrameBoundary() : new EventBoundary();
    this.pauseMs = pauseMs;
    this.idleMs = idleMs;
    this.watcher = keepAliveMs === 0 || framing === 'aws' ? undefined : new Silence(keepAliveMs, () => this.#comment());
    this.filter = {
      push: (chunk) => this.#see(filter === undefined ? chunk : filter.push(chunk)),
      end: () => this.#see(filter === undefined ? NO_BYTES : filter.end()),
    };
  }

  readonly isLeftOpen = (error: unknown): boolean =>
    this.#boundary.isHere && !(error instanceof UpstreamFailure && error.kind === 'caller_gone');

  #see(passed: Buffer): Buffer {
    this.#boundary.push(passed);
    return passed;
  }

  #comment(): void {
    const { destroyed, writableEnded, writableNeedDrain } = this.stream;
    if (!destroyed && !writableEnded && !writableNeedDrain && this.#boundary.isHere) this.stream.write(COMMENT);
  }
}

/** Calls back after every `ms` milliseconds of silence. */
class Silence implements BodyWatcher {
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number, onSilence: () => void) {
    this.#timer = setInterval(onSilence, ms).unref();
  }

  push(): void {
    this.#timer?.refresh();
  }

  end(): void {
    clearInterval(this.#timer);
    // A refresh would restart the timer.
    this.#timer = undefined;
  }
}

/** Reports whether a stream of events is between two events. */
interface Boundary {
  readonly isHere: boolean;
  push(chunk: Buffer): void;
}

class FrameBoundary implements Boundary {
  readonly #frames = new FrameSplitter();
  #isBroken = false;

  get isHere(): boolean {
    return !this.#isBroken && this.#frames.isBetweenFrames;
  }

  push(chunk: Buffer): void {
    if (this.#isBroken) return;
    try {
      this.#frames.push(chunk);
    } catch {
      this.#isBroken = true;
    }
  }
}

/** Finds the ends of server-sent events. Lines end in LF, CR or CRLF (WHATWG HTML, 9.2.5). */
export class EventBoundary implements Boundary {
  /** The beginning of a stream is a boundary. */
  #tail = '\n\n';

  get isHere(): boolean {
    return EVENT_END.test(this.#tail);
  }

  push(chunk: Buffer): void {
    const last = chunk.toString('latin1', Math.max(0, chunk.length - LONGEST_END));
    this.#tail = (this.#tail + last).slice(-LONGEST_END);
  }
}
