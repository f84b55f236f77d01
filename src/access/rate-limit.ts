export const RATE_LIMIT_UNITS = ['rps', 'rpm', 'rph', 'rpd'] as const;
export type RateLimitUnit = (typeof RATE_LIMIT_UNITS)[number];

/** At most `value` requests a second, minute, hour or day. */
export interface RateLimit {
  readonly type: 'requests';
  readonly unit: RateLimitUnit;
  readonly value: number;
}
