import type { JsonObject } from '../common/json/read.js';
import type { AnswerFacts, ReportedUsage, StreamMeter } from '../gateway/billable-use.js';
import type { UpstreamHead } from '../upstream/upstream.types.js';
import { beginningOfSecret, withoutSecrets } from '../upstream/without-secrets.js';

const NO_BYTES = Buffer.alloc(0);
/** Of an event that may be an error. What is longer goes on without the secrets. */
const MAX_HELD_BYTES = 8 * 1024 * 1024;
const LF = 0x0a;
const BLANK_LINES = ['\n\n', '\n\r\n', '\r\r'];

/**
 * A meter that takes the secrets of the credential out of an error: some providers repeat the key that they refuse, with the status
 * of a success too. What a model writes is not changed, although a weak key may be a word of it. So an event in which a secret
 * seems to stand is held back from there on until it is whole, and known to be an error or not.
 */
export class DiscreetMeter implements StreamMeter {
  #held = NO_BYTES;

  constructor(
    private readonly meter: StreamMeter,
    private readonly secrets: readonly string[],
  ) {}

  noteHead(head: UpstreamHead): void {
    this.meter.noteHead?.(head);
  }

  push(chunk: Buffer): Buffer {
    const passed = this.#withHeld(this.meter.push(chunk));
    if (this.hasError || this.secrets.length === 0) return this.#hidden(passed);
    const event = startOfLastEvent(passed);
    const secret = beginningOfSecret(passed.subarray(event), this.secrets);
    if (secret === undefined) return passed;
    const start = event + secret;
    if (passed.length - start > MAX_HELD_BYTES) return withoutSecrets(passed, this.secrets);
    this.#held = Buffer.from(passed.subarray(start));
    return passed.subarray(0, start);
  }

  end(): Buffer {
    return this.#hidden(this.#withHeld(this.meter.end()));
  }

  get usage(): ReportedUsage {
    return this.meter.usage;
  }

  get hasOutput(): boolean {
    return this.meter.hasOutput;
  }

  get answer(): AnswerFacts | undefined {
    return this.meter.answer;
  }

  get hasError(): boolean {
    return this.meter.hasError === true || this.meter.failure !== undefined;
  }

  get failure(): JsonObject | undefined {
    return this.meter.failure;
  }

  get isCutShort(): boolean {
    return this.meter.isCutShort === true;
  }

  #withHeld(passed: Buffer): Buffer {
    if (this.#held.length === 0) return passed;
    const all = Buffer.concat([this.#held, passed]);
    this.#held = NO_BYTES;
    return all;
  }

  #hidden(passed: Buffer): Buffer {
    return this.hasError ? withoutSecrets(passed, this.secrets) : passed;
  }
}

/** Behind the last blank line. */
function startOfLastEvent(bytes: Buffer): number {
  // Most chunks end with an event.
  if (bytes.at(-1) === LF && bytes.at(-2) === LF) return bytes.length;
  return Math.max(0, ...BLANK_LINES.map((line) => endOfLast(bytes, line)));
}

function endOfLast(bytes: Buffer, line: string): number {
  const at = bytes.lastIndexOf(line);
  return at < 0 ? 0 : at + line.length;
}
