import type { JsonObject } from '../common/json/read.js';
import type { AnswerFacts, ReportedUsage, StreamMeter } from '../gateway/billable-use.js';
import type { UpstreamHead } from '../upstream/upstream.types.js';
import { withoutSecrets } from '../upstream/without-secrets.js';

/**
 * A meter that takes the secrets of the credential out of a refusal: some providers repeat the key that they refuse, with the status
 * of a success too. They refuse before any output, so nothing that a model writes is changed.
 */
export class DiscreetMeter implements StreamMeter {
  constructor(
    private readonly meter: StreamMeter,
    private readonly secrets: readonly string[],
  ) {}

  noteHead(head: UpstreamHead): void {
    this.meter.noteHead?.(head);
  }

  push(chunk: Buffer): Buffer {
    return this.hidden(this.meter.push(chunk));
  }

  end(): Buffer {
    return this.hidden(this.meter.end());
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

  get failure(): JsonObject | undefined {
    return this.meter.failure;
  }

  get isCutShort(): boolean {
    return this.meter.isCutShort === true;
  }

  private hidden(passed: Buffer): Buffer {
    return this.meter.failure === undefined ? passed : withoutSecrets(passed, this.secrets);
  }
}
