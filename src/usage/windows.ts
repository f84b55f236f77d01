/** A period of days that repeats from a first day on: `30d@20261126`. */
export type DayPeriod = `${number}d@${number}`;

/** How often a policy's usage starts again from zero; null for never. */
export type WindowKind = 'weekly' | 'monthly' | DayPeriod | null;

export interface UsageWindow {
  /** `cum`, `2026-11`, `2026-W47` (ISO week, whose year is not always the date's), `2026-11-26+30` (days). */
  readonly id: string;
  /** undefined for a window without an end. */
  readonly resetsAt: Date | undefined;
}

const DAY_MS = 86_400_000;
const WEEK_DAYS = 7;
/** In days after Monday. An ISO week belongs to the year of its Thursday. */
const THURSDAY = 3;

/** The window that contains a moment. Months and weeks (from Monday) begin at 00:00 UTC. */
export function windowAt(kind: WindowKind, now: Date): UsageWindow {
  switch (kind) {
    case null:
      return { id: 'cum', resetsAt: undefined };
    case 'monthly':
      return monthOf(now.getUTCFullYear(), now.getUTCMonth());
    case 'weekly':
      return weekFrom(mondayBefore(now));
    default:
      return daysAt(kind, now);
  }
}

const DAYS = /^([1-9]\d{0,2})d@(\d{4})(\d{2})(\d{2})$/;

/** Periods of `days` days, the first of which begins at 00:00 UTC of the day `from`. */
export function everyDays(days: number, from: Date): DayPeriod {
  return `${days}d@${Number(from.toISOString().slice(0, 10).replaceAll('-', ''))}`;
}

/** The length of a day period, and the start of the first one; undefined for any other text. */
export function dayPeriodOf(kind: string | null): { readonly days: number; readonly from: Date } | undefined {
  const [, days, year, month, day] = DAYS.exec(kind ?? '') ?? [];
  const from = new Date(`${year}-${month}-${day}T00:00:00Z`);
  return days === undefined || Number.isNaN(from.getTime()) ? undefined : { days: Number(days), from };
}

function daysAt(kind: DayPeriod, now: Date): UsageWindow {
  const period = dayPeriodOf(kind);
  if (period === undefined) throw new Error('a period of days has another form');
  const length = period.days * DAY_MS;
  const start = period.from.getTime() + Math.floor((now.getTime() - period.from.getTime()) / length) * length;
  const day = new Date(start).toISOString().slice(0, 10);
  return { id: `${day}+${period.days}`, resetsAt: new Date(start + length) };
}

function monthOf(year: number, month: number): UsageWindow {
  return { id: `${digits(year, 4)}-${digits(month + 1, 2)}`, resetsAt: firstOf(year, month + 1) };
}

function weekFrom(monday: number): UsageWindow {
  const thursday = new Date(monday + THURSDAY * DAY_MS);
  const year = thursday.getUTCFullYear();
  const dayOfYear = Math.round((thursday.getTime() - firstOf(year, 0).getTime()) / DAY_MS);
  const week = Math.floor(dayOfYear / WEEK_DAYS) + 1;
  return { id: `${digits(year, 4)}-W${digits(week, 2)}`, resetsAt: new Date(monday + WEEK_DAYS * DAY_MS) };
}

/** The start of the week that contains a moment: Monday, 00:00 UTC, in Unix milliseconds. */
function mondayBefore(now: Date): number {
  const midnight = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const daysSinceMonday = (now.getUTCDay() + WEEK_DAYS - 1) % WEEK_DAYS;
  return midnight - daysSinceMonday * DAY_MS;
}

/** `Date.UTC` would read the years 0 to 99 as 1900 to 1999. */
function firstOf(year: number, month: number): Date {
  const date = new Date(0);
  date.setUTCFullYear(year, month, 1);
  return date;
}

function digits(value: number, length: number): string {
  return String(value).padStart(length, '0');
}
