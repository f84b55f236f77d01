import type { Pool } from 'undici';
import { ConnectionGate } from './connection-gate.js';

export interface OriginPoolsOptions {
  readonly maxOrigins: number;
  readonly connectionsPerOrigin: number;
  readonly open: (origin: string, connections: number) => Pool;
}

/** What the connections are used for at a moment. */
export interface ConnectionCounts {
  readonly in_use: number;
  readonly waiting: number;
  /** Origins at which calls wait. */
  readonly full_origins: number;
}

/**
 * One pool an origin, the least recently used closed first. A pool in use is never closed, so that the bound may be
 * passed for as long as more origins than that are in use at the same moment.
 */
export class OriginPools {
  readonly #gates = new Map<string, ConnectionGate>();
  #uses = 0;

  constructor(private readonly options: OriginPoolsOptions) {}

  get size(): number {
    return this.#gates.size;
  }

  counts(): ConnectionCounts {
    const gates = [...this.#gates.values()];
    const sum = (name: 'held' | 'waiting'): number => gates.reduce((total, gate) => total + gate[name], 0);
    const full = gates.filter(({ waiting }) => waiting > 0).length;
    return { in_use: sum('held'), waiting: sum('waiting'), full_origins: full };
  }

  /** For a call that enters, or waits, at once: an idle one may be closed with the next origin. */
  at(origin: string): ConnectionGate {
    this.#uses += 1;
    const known = this.#gates.get(origin);
    if (known !== undefined) {
      known.lastUse = this.#uses;
      return known;
    }
    const { connectionsPerOrigin: connections, open } = this.options;
    const gate = new ConnectionGate(open(origin, connections), connections, this.#onIdle);
    gate.lastUse = this.#uses;
    this.#gates.set(origin, gate);
    this.#closeSurplus();
    return gate;
  }

  async close(): Promise<void> {
    const gates = [...this.#gates.values()];
    this.#gates.clear();
    await Promise.all(gates.map(({ pool }) => pool.destroy()));
  }

  readonly #onIdle = (): void => {
    if (this.#gates.size > this.options.maxOrigins) this.#closeSurplus();
  };

  /** The latest use is that of a call which has not entered yet. */
  #closeSurplus(): void {
    if (this.#gates.size <= this.options.maxOrigins) return;
    const byUse = [...this.#gates].sort(([, one], [, other]) => one.lastUse - other.lastUse);
    for (const [origin, gate] of byUse) {
      if (!gate.isIdle || gate.lastUse === this.#uses) continue;
      this.#gates.delete(origin);
      // `destroy`, since a call that was given up may still wait for a connection here. It rejects only for a pool
      // that is destroyed already.
      gate.pool.destroy().catch(() => undefined);
      if (this.#gates.size <= this.options.maxOrigins) return;
    }
  }
}
