/** The longest end of an event: the end of its last line and a blank one. */
const LONGEST_END = 3;
const EVENT_END = /(?:\n|\r(?!\n))(?:\r\n|\r|\n)$/;

/** Tells whether a stream of events stands between two of them. Lines end in LF, CR or CRLF (WHATWG HTML, 9.2.5). */
export class EventBoundary {
  /** The beginning of a stream is one. */
  #tail = '\n\n';

  get isHere(): boolean {
    return EVENT_END.test(this.#tail);
  }

  push(chunk: Buffer): void {
    const last = chunk.toString('latin1', Math.max(0, chunk.length - LONGEST_END));
    this.#tail = (this.#tail + last).slice(-LONGEST_END);
  }
}
