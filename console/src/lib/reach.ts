import { useSyncExternalStore } from 'react';
import { ApiError } from './session';

const listeners = new Set<() => void>();
let isAway = false;

/** Statuses that mean that the gateway, or the proxy in front of it, does not answer. */
const AWAY_STATUSES: ReadonlySet<number> = new Set([0, 502, 503, 504]);

export function isOutage(error: unknown): boolean {
  return error instanceof ApiError && AWAY_STATUSES.has(error.status);
}

/** Call it with the end of every query. @param error undefined: there was an answer */
export function noteAnswer(error?: unknown): void {
  const next = isOutage(error);
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
