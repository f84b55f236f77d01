import type { Pool } from 'undici';

/** A pool and the number of its attempts in flight. */
export interface OriginPool {
  readonly pool: Pool;
  running: number;
  /** The number of the use of any pool: a higher one was later. */
  lastUse: number;
}

/**
 * One pool an origin, the least recently used closed first. A pool in use is never closed, so that the bound may be
 * passed for as long as more origins than that are in use at the same moment.
 */
export class OriginPools {
  readonly #pools = new Map<string, OriginPool>();
  #uses = 0;

  constructor(
    private readonly maxOrigins: number,
    private readonly open: (origin: string) => Pool,
  ) {}

  get size(): number {
    return this.#pools.size;
  }

  /** To be given back with `release`. */
  acquire(origin: string): OriginPool {
    this.#uses += 1;
    const known = this.#pools.get(origin);
    const entry = known ?? { pool: this.open(origin), running: 0, lastUse: 0 };
    entry.running += 1;
    entry.lastUse = this.#uses;
    if (known === undefined) {
      this.#pools.set(origin, entry);
      this.#closeSurplus();
    }
    return entry;
  }

  release(entry: OriginPool): void {
    entry.running -= 1;
    if (this.#pools.size > this.maxOrigins) this.#closeSurplus();
  }

  async close(): Promise<void> {
    const entries = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(entries.map(({ pool }) => pool.destroy()));
  }

  #closeSurplus(): void {
    if (this.#pools.size <= this.maxOrigins) return;
    const byUse = [...this.#pools].sort(([, one], [, other]) => one.lastUse - other.lastUse);
    for (const [origin, { pool, running }] of byUse) {
      if (running > 0) continue;
      this.#pools.delete(origin);
      // `destroy`, since a call that was given up may still wait for a connection here. It rejects only for a pool
      // that is destroyed already.
      pool.destroy().catch(() => undefined);
      if (this.#pools.size <= this.maxOrigins) return;
    }
  }
}
