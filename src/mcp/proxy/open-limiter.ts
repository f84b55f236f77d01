/** Counts what is open by key, in this process. */
export class OpenLimiter {
  readonly #open = new Map<string, number>();

  constructor(private readonly maxPerKey: number) {}

  /** Whether there was room. If so, `leave` must follow once. */
  enter(key: string): boolean {
    const open = this.#open.get(key) ?? 0;
    if (open >= this.maxPerKey) return false;
    this.#open.set(key, open + 1);
    return true;
  }

  leave(key: string): void {
    const open = (this.#open.get(key) ?? 0) - 1;
    if (open > 0) this.#open.set(key, open);
    else this.#open.delete(key);
  }
}
