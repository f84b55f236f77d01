/** Last second that PostgreSQL and JavaScript both write with four digits of year. */
export const LAST_SECOND = 253_402_300_799;

/** Unix seconds, the form of every timestamp in management answers. */
export function toUnixSeconds(date: Date): number;
export function toUnixSeconds(date: Date | null): number | null;
export function toUnixSeconds(date: Date | null): number | null {
  return date === null ? null : Math.floor(date.getTime() / 1000);
}

export function fromUnixSeconds(seconds: number): Date;
/** null and undefined stay what they are. */
export function fromUnixSeconds(seconds: number | null | undefined): Date | null | undefined;
export function fromUnixSeconds(seconds: number | null | undefined): Date | null | undefined {
  return typeof seconds === 'number' ? new Date(seconds * 1000) : seconds;
}
