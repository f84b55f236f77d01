import type { JsonObject } from '../common/json/read.js';
import type { AnswerFacts, ReportedUsage, StreamMeter } from '../gateway/billable-use.js';
import type { UpstreamHead } from '../upstream/upstream.types.js';
import { beginningOfSecret, withoutSecrets } from '../upstream/without-secrets.js';

const NO_BYTES = Buffer.alloc(0);
/** The most bytes of an event that are held back. A longer event is forwarded without the secrets. */
const MAX_HELD_BYTES = 8 * 1024 * 1024;
const LF = 0x0a;
const BLANK_LINES = ['\n\n', '\n\r\n', '\r\r'];

/**
 * Removes the credential's secrets from errors: some providers repeat the refused key, even with a status of success.
 * Output of a model is not changed, although a weak key may be a word of it. So an event that may contain a secret is
 * held back from there on, until it is complete and known to be an error or not.
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

/** The position after the last blank line. */
function startOfLastEvent(bytes: Buffer): number {
  // Most chunks end with a complete event.
  if (bytes.at(-1) === LF && bytes.at(-2) === LF) return bytes.length;
  return Math.max(0, ...BLANK_LINES.map((line) => endOfLast(bytes, line)));
}

function endOfLast(bytes: Buffer, line: string): number {
  const at = bytes.lastIndexOf(line);
  return at < 0 ? 0 : at + line.length;
}
