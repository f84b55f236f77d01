/**
 * A value that is usually in memory and returned synchronously then: awaiting a promise would cost more than the
 * look-up.
 */
export type MaybePromise<T> = T | Promise<T>;

/** Applies `use` to a value, synchronously when the value is there. */
export function chain<T, R>(value: MaybePromise<T>, use: (known: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(use) : use(value);
}

/** Runs `work`; a synchronous exception becomes a rejection, which can be cached. */
export function toRejection<T>(work: () => MaybePromise<T>): MaybePromise<T> {
  try {
    return work();
  } catch (error) {
    return rejection(error);
  }
}

async function rejection(error: unknown): Promise<never> {
  throw error;
}
