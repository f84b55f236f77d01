import type { Pool } from 'undici';

/** A pool and the number of attempts under way in it. */
export interface OriginPool {
  readonly pool: Pool;
  running: number;
}

/**
 * One pool an origin, the least recently used closed first. A pool in use is never closed, so that the bound may be
 * passed for as long as more origins than that are in use at the same moment.
 */
export class OriginPools {
  /** Least recently used first: a Map keeps the order in which entries were put in. */
  readonly #pools = new Map<string, OriginPool>();

  constructor(
    private readonly maxOrigins: number,
    private readonly open: (origin: string) => Pool,
  ) {}

  get size(): number {
    return this.#pools.size;
  }

  /** To be given back with `release`. */
  acquire(origin: string): OriginPool {
    let entry = this.#pools.get(origin);
    if (entry) this.#pools.delete(origin);
    else entry = { pool: this.open(origin), running: 0 };
    entry.running += 1;
    this.#pools.set(origin, entry);
    this.#closeSurplus();
    return entry;
  }

  release(entry: OriginPool): void {
    entry.running -= 1;
    this.#closeSurplus();
  }

  async close(): Promise<void> {
    const entries = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(entries.map(({ pool }) => pool.destroy()));
  }

  #closeSurplus(): void {
    if (this.#pools.size <= this.maxOrigins) return;
    for (const [origin, { pool, running }] of this.#pools) {
      if (running > 0) continue;
      this.#pools.delete(origin);
      // `destroy`, since a call that was given up may still wait for a connection here. It rejects only for a pool
      // that is destroyed already.
      pool.destroy().catch(() => undefined);
      if (this.#pools.size <= this.maxOrigins) return;
    }
  }
}
