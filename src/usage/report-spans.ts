import type { TimeBucket } from './dto/usage-report.query.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * A part of a report's time range, and the source of its calls: sums by day or hour, changes that are not in the sums
 * yet (`notes`), or single rows of the ledger.
 */
export interface ReportSpan {
  readonly source: 'days' | 'hours' | 'notes' | 'ledger';
  /** Inclusive; whole days or hours for sums. */
  readonly from: Date;
  /** Exclusive. */
  readonly to: Date;
}

/**
 * Splits a time range into whole days, whole hours beside them, and the rests at both ends. Each instant has one
 * source, besides the notes.
 */
export function spansOf(from: Date, to: Date, bucket: TimeBucket): readonly ReportSpan[] {
  const [start, end] = [from.getTime(), to.getTime()];
  const hours = wholeIn(start, end, HOUR_MS);
  if (hours === undefined) return [{ source: 'ledger', from, to }];
  const days = bucket === 'hour' ? undefined : wholeIn(start, end, DAY_MS);
  const { first, last } = days ?? { first: hours.last, last: hours.last };
  return [
    spanOf('ledger', start, hours.first),
    spanOf('hours', hours.first, first),
    spanOf('days', first, last),
    spanOf('hours', last, hours.last),
    spanOf('notes', hours.first, hours.last),
    spanOf('ledger', hours.last, end),
  ].filter((span) => span.from < span.to);
}

/** Rounds a time up to the full hour. */
export function endOfHour(time: Date): Date {
  return new Date(Math.ceil(time.getTime() / HOUR_MS) * HOUR_MS);
}

function wholeIn(
  start: number,
  end: number,
  unit: number,
): { readonly first: number; readonly last: number } | undefined {
  const first = Math.ceil(start / unit) * unit;
  const last = Math.floor(end / unit) * unit;
  return first < last ? { first, last } : undefined;
}

function spanOf(source: ReportSpan['source'], from: number, to: number): ReportSpan {
  return { source, from: new Date(from), to: new Date(to) };
}
