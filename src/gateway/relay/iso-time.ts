/** Unix seconds of an ISO 8601 time; null when there is none. */
export function isoToUnixSeconds(time: unknown): number | null {
  const milliseconds = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  return Number.isNaN(milliseconds) ? null : Math.floor(milliseconds / 1_000);
}
