import type { Pool } from 'undici';
import type { CallDeadline } from './call-deadline.js';
import type { ConnectionHolder } from './connection-holder.js';
import { UpstreamFailure } from './upstream.types.js';

export interface OriginPoolsOptions {
  readonly maxOrigins: number;
  readonly connectionsPerOrigin: number;
  readonly open: (origin: string, connections: number) => Pool;
}

/** Counts of connections and of waiting calls. */
export interface ConnectionCounts {
  readonly in_use: number;
  readonly waiting: number;
  /** The number of origins at which calls wait. */
  readonly full_origins: number;
}

/**
 * One pool per origin. Beyond the limit, the least recently used pool is closed. A pool in use is never closed, so the
 * limit may be exceeded while more origins are in use.
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

  /** The gate of an origin. Enter or wait at once: an idle pool may be closed with the next origin. */
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

  /** Keeps the latest one: its call has not entered yet. */
  #closeSurplus(): void {
    if (this.#gates.size <= this.options.maxOrigins) return;
    const byUse = [...this.#gates].sort(([, one], [, other]) => one.lastUse - other.lastUse);
    for (const [origin, gate] of byUse) {
      if (!gate.isIdle || gate.lastUse === this.#uses) continue;
      this.#gates.delete(origin);
      // `destroy`, since an abandoned call may still wait for a connection here. It rejects only when the pool is
      // already destroyed.
      gate.pool.destroy().catch(() => undefined);
      if (this.#gates.size <= this.options.maxOrigins) return;
    }
  }
}

/** Longest wait for a connection. A client does better to try elsewhere than to wait longer. */
export const MAX_WAIT_MS = 1_000;

/**
 * A holder gets another connection while it holds fewer than this multiple of the free ones. So some connections always
 * stay free for others, however many calls of a holder hang. Alone, a virtual key can hold two thirds of all
 * connections, and an organisation four fifths.
 */
const TIMES_FREE = { organisation: 4, key: 2 } as const;

/** The most waiting calls of one holder. Each keeps its body in memory. */
const MAX_WAITING = 1_024;

/** Above this number, shares without a call are dropped. */
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
    /** undefined for the gateway's own calls, which have no limit. */
    readonly organisation: Tally | undefined,
  ) {}

  /** Call it once for each connection that was taken. */
  release(): void {
    this.gate.leave(this);
  }
}

/**
 * Shares out the connections to one origin. All tenants use the same origin of a provider, so without shares, hanging
 * calls of one tenant would block all others.
 */
export class ConnectionGate {
  /** The sequence number of the last use: a higher one was later. */
  lastUse = 0;
  held = 0;
  waiting = 0;
  readonly #shares = new Map<string, ConnectionShare>();
  readonly #organisations = new Map<string, Tally>();
  /** The shares with waiting calls. The first one is next. */
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

  /** @param holder undefined for a call of the gateway itself */
  shareOf(holder: ConnectionHolder | undefined): ConnectionShare {
    if (holder === undefined) return this.#own;
    return this.#shares.get(holder.id) ?? this.#addShare(holder);
  }

  /** Takes a connection for the share, if one is available to it now. */
  tryEnter(share: ConnectionShare): boolean {
    if (!this.#hasRoomFor(share)) return false;
    this.#take(share);
    return true;
  }

  /**
   * Waits until a connection is available to the share; shares take turns.
   * @throws UpstreamFailure `busy`, or the failure that ended the call during the wait
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
      // Moves the share to the end, so that the others are next.
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
