const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Waits before each attempt, each from the end of the attempt before: the schedule that Standard Webhooks recommends. */
const WAITS_MS: readonly number[] = [
  0,
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];

export const MAX_ATTEMPTS = WAITS_MS.length;

/** Share of a wait that chance adds, so that what failed together does not come back together. */
const JITTER = 0.2;
/** A receiver may ask for more time than the schedule gives, but not for ever. */
const LONGEST_RETRY_AFTER_MS = 24 * HOUR_MS;

/**
 * Milliseconds until the next attempt; undefined when there is none.
 * @param attempts that have failed so far
 * @param random from 0 to 1
 */
export function retryWaitMs(attempts: number, retryAfterMs: number | undefined, random: number): number | undefined {
  const scheduledMs = WAITS_MS[attempts];
  if (scheduledMs === undefined) return undefined;
  const askedMs = Math.min(retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS);
  return Math.max(scheduledMs * (1 + JITTER * random), askedMs);
}
