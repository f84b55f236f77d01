/** How often a policy starts again from zero; null: never. */
export type WindowKind = 'weekly' | 'monthly' | null;

export interface UsageWindow {
  /** `cum`, `2026-11`, `2026-W47` (ISO week, whose year is not always the date's). */
  readonly id: string;
  /** undefined: never. */
  readonly resetsAt: Date | undefined;
}

const DAY_MS = 86_400_000;
const WEEK_DAYS = 7;
/** In days after Monday: the week belongs to the year that its Thursday is in. */
const THURSDAY = 3;

/** The window that a moment lies in. Months and weeks (from Monday) begin at 00:00 UTC. */
export function windowAt(kind: WindowKind, now: Date): UsageWindow {
  switch (kind) {
    case null:
      return { id: 'cum', resetsAt: undefined };
    case 'monthly':
      return monthOf(now.getUTCFullYear(), now.getUTCMonth());
    case 'weekly':
      return weekFrom(mondayBefore(now));
  }
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

/** Unix milliseconds of the Monday at 00:00 UTC that is not after it. */
function mondayBefore(now: Date): number {
  const midnight = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const daysSinceMonday = (now.getUTCDay() + WEEK_DAYS - 1) % WEEK_DAYS;
  return midnight - daysSinceMonday * DAY_MS;
}

/** `Date.UTC` would take the years 0 to 99 for 1900 to 1999. */
function firstOf(year: number, month: number): Date {
  const date = new Date(0);
  date.setUTCFullYear(year, month, 1);
  return date;
}

function digits(value: number, length: number): string {
  return String(value).padStart(length, '0');
}
