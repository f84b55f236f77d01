import type { Pool } from 'undici';
import type { CallDeadline } from './call-deadline.js';
import type { ConnectionHolder } from './connection-holder.js';
import { UpstreamFailure } from './upstream.types.js';

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

/** Longest wait for a connection. A client that tries again elsewhere does better than one that waits. */
export const MAX_WAIT_MS = 1_000;

/**
 * A holder gets a further connection while it holds less than so many times what is free. So some are always left for others,
 * however many calls of a holder hang; without others, a virtual key has two thirds of all, and an organisation four fifths.
 */
const TIMES_FREE = { organisation: 4, key: 2 } as const;

/** Of one holder: each keeps its body in memory. */
const MAX_WAITING = 1_024;

/** Shares without a call are dropped beyond so many. */
const MAX_IDLE_SHARES = 1_024;

interface Tally {
  held: number;
}

interface Waiter {
  enter(): void;
}

/** The connections of one holder to one origin. */
export class ConnectionShare implements Tally {
  held = 0;
  /** In order of arrival. */
  readonly waiting = new Set<Waiter>();

  constructor(
    readonly gate: ConnectionGate,
    /** undefined: the gateway's own calls, which no share bounds. */
    readonly organisation: Tally | undefined,
  ) {}

  /** Call it once for each connection that was taken. */
  release(): void {
    this.gate.leave(this);
  }
}

/**
 * Shares out the connections to one origin. Providers have one address for all tenants: without shares, the calls of one that
 * hang would let all others wait.
 */
export class ConnectionGate {
  /** The number of the use of any pool: a higher one was later. */
  lastUse = 0;
  held = 0;
  waiting = 0;
  readonly #shares = new Map<string, ConnectionShare>();
  readonly #organisations = new Map<string, Tally>();
  /** Those with waiting calls; whose turn it is comes first. */
  readonly #queue = new Set<ConnectionShare>();
  readonly #own = new ConnectionShare(this, undefined);

  constructor(
    readonly pool: Pool,
    private readonly connections: number,
    private readonly onIdle: () => void,
  ) {}

  get isIdle(): boolean {
    return this.held === 0 && this.waiting === 0;
  }

  /** @param holder undefined: a call of the gateway itself */
  shareOf(holder: ConnectionHolder | undefined): ConnectionShare {
    if (holder === undefined) return this.#own;
    return this.#shares.get(holder.id) ?? this.#addShare(holder);
  }

  /** Takes a connection for the share, if it can have one now. */
  tryEnter(share: ConnectionShare): boolean {
    if (!this.#hasRoomFor(share)) return false;
    this.#take(share);
    return true;
  }

  /**
   * Takes a connection as soon as the share can have one; shares take turns.
   * @throws UpstreamFailure `busy`, or how the call ended meanwhile
   */
  wait(share: ConnectionShare, limits: CallDeadline, host: string): Promise<void> {
    return new Promise((resolve, reject) => {
      if (share.waiting.size >= MAX_WAITING) return reject(busy(host));
      const end = (failure: UpstreamFailure): void => {
        this.#leaveQueue(share, waiter);
        clearTimeout(timer);
        limits.unlisten();
        reject(failure.unsent());
      };
      const waiter: Waiter = {
        enter: () => {
          clearTimeout(timer);
          limits.unlisten();
          resolve();
        },
      };
      const timer = setTimeout(() => end(busy(host)), MAX_WAIT_MS);
      share.waiting.add(waiter);
      this.#queue.add(share);
      this.waiting += 1;
      limits.listen(end);
    });
  }

  leave(share: ConnectionShare): void {
    this.held -= 1;
    share.held -= 1;
    if (share.organisation) share.organisation.held -= 1;
    while (this.waiting > 0 && this.#admitNext()) continue;
    if (this.held === 0) this.onIdle();
  }

  #hasRoomFor({ held, organisation }: ConnectionShare): boolean {
    const free = this.connections - this.held;
    if (organisation === undefined) return free > 0;
    return held < TIMES_FREE.key * free && organisation.held < TIMES_FREE.organisation * free;
  }

  #take(share: ConnectionShare): void {
    this.held += 1;
    share.held += 1;
    if (share.organisation) share.organisation.held += 1;
  }

  /** Whether a waiting call got a connection. */
  #admitNext(): boolean {
    for (const share of this.#queue) {
      const [waiter] = share.waiting;
      if (waiter === undefined || !this.#hasRoomFor(share)) continue;
      this.#leaveQueue(share, waiter);
      // The turn of the others.
      if (this.#queue.delete(share)) this.#queue.add(share);
      this.#take(share);
      waiter.enter();
      return true;
    }
    return false;
  }

  #leaveQueue(share: ConnectionShare, waiter: Waiter): void {
    if (!share.waiting.delete(waiter)) return;
    this.waiting -= 1;
    if (share.waiting.size === 0) this.#queue.delete(share);
  }

  #addShare({ id, organisationId }: ConnectionHolder): ConnectionShare {
    if (this.#shares.size >= MAX_IDLE_SHARES) this.#dropIdle();
    const organisation = this.#organisations.get(organisationId) ?? { held: 0 };
    const share = new ConnectionShare(this, organisation);
    this.#organisations.set(organisationId, organisation);
    this.#shares.set(id, share);
    return share;
  }

  #dropIdle(): void {
    const used = new Set<Tally | undefined>();
    for (const [id, share] of this.#shares) {
      if (share.held === 0 && share.waiting.size === 0) this.#shares.delete(id);
      else used.add(share.organisation);
    }
    for (const [id, tally] of this.#organisations) if (!used.has(tally)) this.#organisations.delete(id);
  }
}

function busy(host: string): UpstreamFailure {
  return new UpstreamFailure('busy', `no connection to ${host} was free within ${MAX_WAIT_MS} ms`, { wasSent: false });
}
