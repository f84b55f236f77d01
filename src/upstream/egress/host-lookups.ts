import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { LRUCache } from 'lru-cache';
import { withTimeout } from '../../common/time/timeout.js';
import { SlowLookupError } from './slow-lookup.error.js';

/** Below the timeouts of connections (5 s), which would blame the connection and leave the look-up behind. */
const PATIENCE_MS = 4_000;
/** Half of what the system looks up at a time for a Node with UV_THREADPOOL_SIZE=16, which leaves half of its threads to look-ups. */
const UNPROVEN_AT_ONCE = 4;
const MAX_PROVEN_NAMES = 10_000;

export type HostResolver = (hostname: string) => Promise<readonly LookupAddress[]>;

const systemResolver: HostResolver = (hostname) => lookup(hostname, { all: true, verbatim: true });

/**
 * Name look-ups that cannot block each other. Each holds one of few threads until the name's servers answer, and cannot be
 * aborted. So there is one look-up per name at a time, shared by all callers, who are refused while it takes too long. Names
 * whose last look-up was not quick share a part of the threads. Results are not cached.
 */
export class HostLookups {
  /** Look-ups that are in flight or wait for their turn, by name. A settled one takes too long. */
  readonly #pending = new Map<string, ReturnType<HostResolver>>();
  /** Names that wait for their turn, longest first, and what begins their look-ups. */
  readonly #waiting = new Map<string, () => void>();
  /** Names whose last answer came in time. */
  readonly #proven = new LRUCache<string, true>({ max: MAX_PROVEN_NAMES });
  readonly #patienceMs: number;
  #unprovenRunning = 0;

  constructor(
    private readonly resolver: HostResolver = systemResolver,
    options: { readonly patienceMs?: number } = {},
  ) {
    this.#patienceMs = options.patienceMs ?? PATIENCE_MS;
  }

  /** Rejects with SlowLookupError, or as the system does. */
  readonly find: HostResolver = (hostname) => {
    const name = hostname.toLowerCase();
    return this.#pending.get(name) ?? this.#begin(name);
  };

  #begin(name: string): ReturnType<HostResolver> {
    const lookedUp = this.#proven.get(name) ? this.resolver(name) : this.#lookUpInTurn(name);
    const ended = lookedUp.finally(() => this.#pending.delete(name));
    const answer = withTimeout(this.#patienceMs, ended, () => this.#giveUp(name));
    this.#pending.set(name, answer);
    answer.then(
      () => this.#proven.set(name, true),
      () => undefined,
    );
    return answer;
  }

  #giveUp(name: string): SlowLookupError {
    if (this.#waiting.delete(name)) {
      this.#pending.delete(name);
      return new SlowLookupError('waited in vain for others that take too long', name);
    }
    this.#proven.delete(name);
    return new SlowLookupError('takes too long', name);
  }

  async #lookUpInTurn(name: string): ReturnType<HostResolver> {
    if (this.#unprovenRunning < UNPROVEN_AT_ONCE) this.#unprovenRunning += 1;
    else await new Promise<void>((go) => this.#waiting.set(name, go));
    try {
      return await this.resolver(name);
    } finally {
      this.#leave();
    }
  }

  /** Starts the look-up that has waited longest. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#unprovenRunning -= 1;
      return;
    }
    const [name, go] = next;
    this.#waiting.delete(name);
    go();
  }
}
