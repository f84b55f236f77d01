/** Has the name of the errors of `AbortSignal.timeout`. */
class TimeoutError extends Error {
  override readonly name = 'TimeoutError';

  constructor(limitMs: number) {
    super(`not done within ${limitMs} ms`);
  }
}

/**
 * The result of the work, if it comes in time. One that has arrived counts, even when this process was too busy to read
 * it before the time was over. The work itself goes on; `late` may end it.
 * @throws Error of `late`: an error named `TimeoutError`, unless the caller has its own
 */
export async function withTimeout<T>(
  limitMs: number,
  work: Promise<T>,
  late: () => Error = () => new TimeoutError(limitMs),
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let lastLook: NodeJS.Immediate | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    // Timers come first in a turn of the event loop, then what arrived on sockets, then immediates.
    timer = setTimeout(() => {
      lastLook = setImmediate(() => reject(late()));
    }, limitMs);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
    clearImmediate(lastLook);
  }
}

/** Whether the work succeeded or failed within the time. Never rejects. */
export async function settledWithin(limitMs: number, work: Promise<unknown>): Promise<boolean> {
  const settled = work.then(
    () => true,
    () => true,
  );
  return withTimeout(limitMs, settled).catch(() => false);
}

/**
 * Gives work a deadline and waits for it. Its signal aborts at the deadline (then the reason is an error named
 * `TimeoutError`), with the first of `others`, and when the work is done, so that no part of it goes on.
 */
export async function withDeadline<T>(
  limitMs: number,
  others: readonly AbortSignal[],
  work: (deadline: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = abortedWith(others);
  const timer = setTimeout(() => controller.abort(new TimeoutError(limitMs)), limitMs);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    controller.abort();
  }
}

/**
 * Aborts with the first of the signals, and for its reason. Replaces `AbortSignal.any`: on Node 20 its result does not
 * hold the signals, and a garbage-collected `AbortSignal.timeout` never aborts.
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
