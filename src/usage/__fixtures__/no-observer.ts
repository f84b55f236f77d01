import type { UsageObserver } from '../usage-observer.js';

export const NO_OBSERVER: UsageObserver = {
  batchDone: () => undefined,
  batchFailed: () => undefined,
  decided: () => undefined,
  dropped: () => undefined,
  reaped: () => undefined,
  reservationsOpen: () => undefined,
};
