import { LRUCache } from 'lru-cache';
import type { MaybePromise } from '../common/maybe-promise.js';

/** How long a value is used before it is read again; a change on this replica takes effect at once. */
const FRESH_MS = 1_000;
/** Until this age it still serves the requests that find it old, while it is read again: under traffic no request waits. */
const REFRESH_MS = 5_000;
/** Changes elsewhere take effect within this time, unless the database takes too long to answer. */
const PROMISED_MS = 10_000;
/** A request that has to wait for a newer value waits no longer than this, and then uses the known one. */
const PATIENCE_MS = 400;
/** How long it waits where the known value is older than promised or known to be wrong: about as long as a reservation may take. */
const LONG_PATIENCE_MS = 2_000;
/** While the database is away, the last known value still counts. */
const STALE_MS = 3_600_000;
const MAX_ORGANISATIONS = 10_000;

interface Entry<Value> {
  readonly value: Value;
  /** Unix milliseconds. */
  readonly loadedAt: number;
}

/** What the database last said about each organisation, for questions that every request asks. */
export class StaleWhileRevalidateCache<Value extends object> {
  private readonly entries = new LRUCache<string, Entry<Value>>({
    max: MAX_ORGANISATIONS,
    ttl: STALE_MS,
    // To look at the clock costs less than the timer that saves it.
    ttlResolution: 0,
  });
  private readonly loads = new Map<string, Promise<Value>>();
  /** Goes up with every change on this replica: a load that began before it may have missed it. */
  private changes = 0;

  /** @param read gets the value that is known, to return the same one when nothing has changed */
  constructor(private readonly read: (organisationId: string, known: Value | undefined) => Promise<Value>) {}

  /**
   * @param now Unix milliseconds
   * @throws what `read` throws when it has never succeeded
   */
  get(organisationId: string, now: number): MaybePromise<Value> {
    const entry = this.entries.get(organisationId);
    const age = entry === undefined ? Infinity : now - entry.loadedAt;
    // A negative age: the clock was set back.
    if (entry !== undefined && age >= 0 && age < FRESH_MS) return entry.value;
    const loaded = this.load(organisationId, now, entry?.value);
    if (entry === undefined) return loaded;
    const known = loaded.catch(() => entry.value);
    if (age >= 0 && age < REFRESH_MS) return entry.value;
    const patienceMs = age >= 0 && age < PROMISED_MS ? PATIENCE_MS : LONG_PATIENCE_MS;
    return Promise.race([known, after(patienceMs, entry.value)]);
  }

  /** After a change on this replica. */
  forget(organisationId: string): void {
    this.changes += 1;
    this.loads.delete(organisationId);
    const entry = this.entries.get(organisationId);
    // Kept for the time when the database is away.
    if (entry !== undefined) this.entries.set(organisationId, { ...entry, loadedAt: -Infinity });
  }

  private load(organisationId: string, now: number, known: Value | undefined): Promise<Value> {
    const running = this.loads.get(organisationId);
    if (running !== undefined) return running;
    const { changes } = this;
    const load = this.read(organisationId, known)
      .then((value) => {
        if (changes === this.changes) this.entries.set(organisationId, { value, loadedAt: now });
        return value;
      })
      .finally(() => {
        if (this.loads.get(organisationId) === load) this.loads.delete(organisationId);
      });
    this.loads.set(organisationId, load);
    return load;
  }
}

function after<Value>(milliseconds: number, value: Value): Promise<Value> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(value), milliseconds).unref();
  });
}
