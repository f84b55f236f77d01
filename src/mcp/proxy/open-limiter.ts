/** Counts open calls or streams per key, in this process, up to a limit. */
export class OpenLimiter {
  readonly #open = new Map<string, number>();

  constructor(private readonly maxPerKey: number) {}

  /** False when the limit is reached. After true, call `leave` once. */
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
