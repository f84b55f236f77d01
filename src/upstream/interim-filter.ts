const CONTINUES = ['HTTP/1.1 100', 'HTTP/1.0 100'] as const;
const STATUS_LINE_LENGTH = CONTINUES[0].length;
/** After the status: a reason, or the end of the line. */
const AFTER_STATUS = [' ', '\r'];
const END_OF_HEAD = '\r\n\r\n';
/** Node's bound for the head of an answer. */
const MAX_HEAD_BYTES = 16 * 1024;
const NOTHING = Buffer.alloc(0);

/**
 * Leaves out the interim answers `100 Continue` before an answer. The gateway never asks for one, but a client has to skip
 * it all the same (RFC 9110, section 15.2); undici 7 closes the connection instead.
 */
export class InterimFilter {
  #isAwaited = false;
  /** The beginning of what may be an interim answer. */
  #held: Buffer = NOTHING;

  /** Call when a request is sent: the next bytes begin an answer. */
  awaitAnswer(): void {
    this.#isAwaited = true;
    this.#held = NOTHING;
  }

  /** What remains of bytes that came; null: nothing so far. */
  pass(bytes: Buffer): Buffer | null {
    if (!this.#isAwaited) return bytes;
    let rest = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    this.#held = NOTHING;
    while (mayContinue(rest)) {
      const end = rest.indexOf(END_OF_HEAD);
      if (end < 0 && rest.length <= MAX_HEAD_BYTES) {
        this.#held = rest;
        return null;
      }
      if (end < 0) break;
      rest = rest.subarray(end + END_OF_HEAD.length);
      if (rest.length === 0) return null;
    }
    this.#isAwaited = false;
    return rest;
  }
}

function mayContinue(bytes: Buffer): boolean {
  const beginning = bytes.toString('latin1', 0, STATUS_LINE_LENGTH + 1);
  const next = beginning[STATUS_LINE_LENGTH];
  return (
    CONTINUES.some((line) => line.startsWith(beginning.slice(0, STATUS_LINE_LENGTH))) &&
    (next === undefined || AFTER_STATUS.includes(next))
  );
}
