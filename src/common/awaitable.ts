/** What is most often in memory, and then there at once: on the way of a request, a promise costs more than the look-up. */
export type Awaitable<T> = T | Promise<T>;

/** What `use` makes of a value: at once when the value is there. */
export function whenKnown<T, R>(value: Awaitable<T>, use: (known: T) => Awaitable<R>): Awaitable<R> {
  return value instanceof Promise ? value.then(use) : use(value);
}
