import { isObject } from '../common/json/read.js';
import type { Logger } from './logger.js';

const QUIET_MS = 60_000;

/** Warns of what goes wrong with the export of spans: at most once a minute, however often it happens. */
export class TracingProblems {
  private quietUntilMs = 0;
  private unreported = 0;

  constructor(
    private readonly logger: Logger,
    private readonly now: () => number = () => performance.now(),
  ) {}

  report(reason: string): void {
    const nowMs = this.now();
    if (nowMs < this.quietUntilMs) {
      this.unreported += 1;
      return;
    }
    this.logger.warn({ event: 'tracing_problem', reason, unreported_before: this.unreported });
    this.quietUntilMs = nowMs + QUIET_MS;
    this.unreported = 0;
  }
}

/** Code or status of a failed export. A message is cut: it may quote the collector's answer. */
export function exportFailure(error: unknown): string {
  if (!isObject(error)) return 'export failed';
  const { code, message } = error;
  if (typeof code === 'string' || typeof code === 'number') return `export failed: ${code}`;
  return `export failed: ${withoutValues(String(message))}`;
}

/** The SDK's messages put values, those of headers too, into quotes, parentheses or braces: all from there on is cut off. */
export function withoutValues(message: string): string {
  return message.replace(/['"({][^]*$/, '…');
}
