/** The last second of the year 9999, which PostgreSQL and JavaScript both write with a four-digit year. */
export const LAST_SECOND = 253_402_300_799;

/** Unix seconds, the format of every timestamp in management responses. */
export function toUnixSeconds(date: Date): number;
export function toUnixSeconds(date: Date | null): number | null;
export function toUnixSeconds(date: Date | null): number | null {
  return date === null ? null : Math.floor(date.getTime() / 1000);
}

export function fromUnixSeconds(seconds: number): Date;
/** Returns null and undefined unchanged. */
export function fromUnixSeconds(seconds: number | null | undefined): Date | null | undefined;
export function fromUnixSeconds(seconds: number | null | undefined): Date | null | undefined {
  return typeof seconds === 'number' ? new Date(seconds * 1000) : seconds;
}

/** Unix seconds of an ISO 8601 time; null when there is none. */
export function isoToUnixSeconds(time: unknown): number | null {
  const milliseconds = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  return Number.isNaN(milliseconds) ? null : Math.floor(milliseconds / 1_000);
}
