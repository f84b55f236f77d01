import { useSyncExternalStore } from 'react';
import { ApiError, type Failure } from './session';

const listeners = new Set<() => void>();
let isAway = false;

/** Statuses that mean that the gateway, or the proxy in front of it, does not answer. */
const AWAY_STATUSES: ReadonlySet<number> = new Set([0, 502, 503, 504]);

export function isOutage(error: unknown): boolean {
  return error instanceof ApiError && AWAY_STATUSES.has(error.status);
}

/** While the gateway restarts. */
const OUTAGE_RETRY_MS = 2_000;

/** How often a query is made again: soon after an outage. @param ms otherwise; false: never */
export function refreshEvery(ms: number | false) {
  return ({ state }: { readonly state: { readonly error: Failure | null } }): number | false =>
    isOutage(state.error) ? OUTAGE_RETRY_MS : ms;
}

/** The gateway itself says that it makes no more reports at the moment. */
const BUSY = 'report_busy';

/** Call it with the end of every query. @param error undefined: there was an answer */
export function noteAnswer(error?: unknown): void {
  const next = isOutage(error) && !(error instanceof ApiError && error.error.code === BUSY);
  if (next === isAway) return;
  isAway = next;
  for (const listener of listeners) listener();
}

/** Whether the last query found no gateway. */
export function useIsAway(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isAway,
  );
}
