/** Unix seconds, the form of every timestamp in management answers. */
export function toUnixSeconds(date: Date): number;
export function toUnixSeconds(date: Date | null): number | null;
export function toUnixSeconds(date: Date | null): number | null {
  return date === null ? null : Math.floor(date.getTime() / 1000);
}

export function fromUnixSeconds(seconds: number): Date {
  return new Date(seconds * 1000);
}
