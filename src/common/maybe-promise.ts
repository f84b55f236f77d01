/** A value that is usually in memory, and then returned synchronously: to await a promise would cost more than the look-up. */
export type MaybePromise<T> = T | Promise<T>;

/** Applies `use` to a value, synchronously when the value is there. */
export function chain<T, R>(value: MaybePromise<T>, use: (known: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(use) : use(value);
}

/** Runs `work`; what it throws synchronously becomes a rejection, which can be kept for whoever asks for it. */
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
