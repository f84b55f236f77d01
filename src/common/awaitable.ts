/** What is most often in memory, and then there at once: on the way of a request, a promise costs more than the look-up. */
export type Awaitable<T> = T | Promise<T>;

/** What `use` makes of a value: at once when the value is there. */
export function whenKnown<T, R>(value: Awaitable<T>, use: (known: T) => Awaitable<R>): Awaitable<R> {
  return value instanceof Promise ? value.then(use) : use(value);
}

/** What `work` throws at once comes as a rejection: to be kept, and met by whoever asks for it. */
export function orRejection<T>(work: () => Awaitable<T>): Awaitable<T> {
  try {
    return work();
  } catch (error) {
    return rejection(error);
  }
}

async function rejection(error: unknown): Promise<never> {
  throw error;
}
