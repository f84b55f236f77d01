import type { TimeBucket } from './dto/usage-report.query.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * A part of a report's time, and where its calls are read: in sums by day or by hour, in the notes that are not in them yet, or
 * row by row in the ledger.
 */
export interface ReportSpan {
  readonly source: 'days' | 'hours' | 'notes' | 'ledger';
  /** Inclusive; whole days or hours for sums. */
  readonly from: Date;
  /** Exclusive. */
  readonly to: Date;
}

/** Whole days, whole hours beside them, and what is left at both ends. Each instant has one source, beside the notes. */
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

/** The end of the hour in which it lies. */
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
