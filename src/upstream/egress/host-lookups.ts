import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { LRUCache } from 'lru-cache';
import { withTimeout } from '../../common/time/timeout.js';
import { SlowLookupError } from './slow-lookup.error.js';

/** Below the timeout of connections (5 s), which would blame the connection and leave the look-up running. */
const PATIENCE_MS = 4_000;
/**
 * Half of the concurrent look-ups of a Node with UV_THREADPOOL_SIZE=16, which leaves half of its threads to look-ups.
 */
const UNPROVEN_AT_ONCE = 4;
const MAX_PROVEN_NAMES = 10_000;

export type HostResolver = (hostname: string) => Promise<readonly LookupAddress[]>;

const systemResolver: HostResolver = (hostname) => lookup(hostname, { all: true, verbatim: true });

/**
 * Name look-ups that cannot block each other. A look-up occupies a thread until the name servers answer, and cannot be
 * aborted. So there is one look-up per name at a time, shared by all callers, who are refused while it takes too long.
 * Names whose last look-up was not quick share a part of the threads. Results are not cached.
 */
export class HostLookups {
  /** Look-ups that are in flight or queued, by name. One that has already rejected takes too long. */
  readonly #pending = new Map<string, ReturnType<HostResolver>>();
  /** Queued names in order of arrival, with the functions that start their look-ups. */
  readonly #waiting = new Map<string, () => void>();
  /** Names whose last look-up was in time. */
  readonly #proven = new LRUCache<string, true>({ max: MAX_PROVEN_NAMES });
  readonly #patienceMs: number;
  #unprovenRunning = 0;

  constructor(
    private readonly resolver: HostResolver = systemResolver,
    options: { readonly patienceMs?: number } = {},
  ) {
    this.#patienceMs = options.patienceMs ?? PATIENCE_MS;
  }

  /** Rejects with SlowLookupError, or with the error of the system. */
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
