class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/**
 * The answer, if it comes in time. One that has arrived counts, although this process was too busy to read it before the
 * time was over.
 * @throws Error named `TimeoutError`
 */
export async function answerWithin<T>(limitMs: number, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let lastLook: NodeJS.Immediate | undefined;
  const limit = new Promise<never>((_, reject) => {
    // Timers come first in a turn of the event loop, then what arrived on sockets, then immediates.
    timer = setTimeout(() => {
      lastLook = setImmediate(() => reject(new TimeoutError('no answer in time')));
    }, limitMs);
  });
  try {
    return await Promise.race([answer, limit]);
  } finally {
    clearTimeout(timer);
    clearImmediate(lastLook);
  }
}
