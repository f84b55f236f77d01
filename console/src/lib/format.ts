const DOLLARS = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const SMALL_DOLLARS = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 2,
  maximumFractionDigits: 6,
});
const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const SHORT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
const PERCENT = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 1 });
const DATE_TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const CENT = 0.01;

/** Amounts under a cent keep their digits: most single calls cost less. */
export function dollars(amount: number): string {
  return Math.abs(amount) >= CENT || amount === 0 ? DOLLARS.format(amount) : SMALL_DOLLARS.format(amount);
}

export function whole(count: number): string {
  return WHOLE.format(count);
}

/** With its unit. @param unit of one */
export function counted(count: number, unit: string, write = whole): string {
  return `${write(count)} ${count === 1 ? unit : `${unit}s`}`;
}

export function short(count: number): string {
  return SHORT.format(count);
}

export function percent(part: number, of: number): string {
  return of === 0 ? '–' : PERCENT.format(part / of);
}

/** What a limit counts. */
export function amount(value: number, type: 'cost' | 'tokens'): string {
  return type === 'cost' ? dollars(value) : whole(value);
}

/** The same with its unit. */
export function quantity(value: number, type: 'cost' | 'tokens'): string {
  return type === 'cost' ? dollars(value) : counted(value, 'token');
}

/** @param seconds Unix time */
export function dateTime(seconds: number | null): string {
  return seconds === null ? '–' : DATE_TIME.format(new Date(seconds * 1_000));
}

/** @param seconds Unix time */
export function day(seconds: number): string {
  return DATE.format(new Date(seconds * 1_000));
}

const STEPS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** How far away a time is. @param seconds Unix time */
export function fromNow(seconds: number | null, now = Date.now()): string {
  if (seconds === null) return 'never';
  const distance = seconds - now / 1_000;
  const [unit, length] = STEPS.find(([, size]) => Math.abs(distance) >= size) ?? ['second', 1];
  return RELATIVE.format(Math.round(distance / length), unit);
}

/** As inputs of days have it, in UTC; empty for a time that never comes. @param seconds Unix time */
export function dayOf(seconds: number | null): string {
  return seconds === null ? '' : new Date(seconds * 1_000).toISOString().slice(0, 10);
}

/** The last second of a day in UTC, as Unix time. */
export function endOfDay(date: string): number {
  return Date.parse(`${date}T23:59:59Z`) / 1_000;
}

/** A length of time as clocks of kitchens show it, for example `29:05` or `1:00:00`. @param seconds not below 0: that is 0 */
export function clock(seconds: number): string {
  const left = Math.max(0, Math.ceil(seconds));
  const parts = [Math.floor(left / 3_600), Math.floor(left / 60) % 60, left % 60];
  const [first = 0, ...rest] = parts[0] === 0 ? parts.slice(1) : parts;
  return [first, ...rest.map((part) => String(part).padStart(2, '0'))].join(':');
}
