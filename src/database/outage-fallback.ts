import type { LookupFallback } from '../common/cache/lookup-cache.js';
import type { AppConfig } from '../config/environment.js';
import { isDatabaseUnavailable } from './database-errors.js';

/** For caches whose values may stand in while the database does not answer; undefined: none may. */
export function outageFallback({
  DATABASE_OUTAGE_GRACE_SECONDS: seconds,
}: Pick<AppConfig, 'DATABASE_OUTAGE_GRACE_SECONDS'>): LookupFallback | undefined {
  return seconds === 0 ? undefined : { keptMs: seconds * 1_000, isAway: isDatabaseUnavailable };
}
