class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/**
 * Gives work a time. Its signal aborts when the time is over or with the first of `others`, and when the work is done, so
 * that nothing of it goes on. The reason of the first is an Error named `TimeoutError`.
 */
export async function withDeadline<T>(
  limitMs: number,
  others: readonly AbortSignal[],
  work: (deadline: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = abortedWith(others);
  const timer = setTimeout(() => controller.abort(new TimeoutError(`not done within ${limitMs} ms`)), limitMs);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    controller.abort();
  }
}

/**
 * Aborts with the first of the signals, and for its reason. In place of `AbortSignal.any`: what that makes does not hold the
 * signals, on Node 20, and an `AbortSignal.timeout` that is garbage never comes.
 */
export function abortedWith(signals: readonly AbortSignal[]): AbortController {
  const controller = new AbortController();
  for (const signal of signals) {
    const abort = (): void => controller.abort(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true, signal: controller.signal });
  }
  return controller;
}
