import { isObject } from '../common/json/read.js';
import type { Logger } from './logger.js';

const QUIET_MS = 60_000;

/** Logs problems of the span export, at most one per minute. */
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

/** Code or status of a failed export. Messages are cut, since they may quote the collector's response. */
export function exportFailure(error: unknown): string {
  if (!isObject(error)) return 'export failed';
  const { code, message } = error;
  if (typeof code === 'string' || typeof code === 'number') return `export failed: ${code}`;
  return `export failed: ${withoutValues(String(message))}`;
}

/**
 * The SDK's messages put values, headers included, into quotes, parentheses or braces. The text is cut at the first of
 * these.
 */
export function withoutValues(message: string): string {
  return message.replace(/['"({][^]*$/, '…');
}
