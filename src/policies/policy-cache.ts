import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { type CompiledPolicy, compilePolicy } from './compiled-policy.js';
import { PolicyStore } from './policy.store.js';

/** How long policies are used before they are read again; a change on this replica is felt at once. */
const FRESH_MS = 1_000;
/** Until this age they still serve the requests that find them old, while they are read again: under traffic nobody waits. */
const REFRESH_MS = 5_000;
/** Somebody who has to wait for older ones waits no longer than this, and then takes those. */
const PATIENCE_MS = 400;
/** While the database is away, the last known policies still decide which calls need it. */
const STALE_MS = 3_600_000;
const MAX_ORGANISATIONS = 10_000;

interface Entry {
  readonly policies: readonly CompiledPolicy[];
  /** Unix milliseconds. */
  readonly loadedAt: number;
}

/** The policies in force, by organisation. */
@Injectable()
export class PolicyCache {
  private readonly entries = new LRUCache<string, Entry>({ max: MAX_ORGANISATIONS, ttl: STALE_MS });
  private readonly loads = new Map<string, Promise<Entry>>();
  /** Goes up with every change on this replica: a load that began before it may have missed it. */
  private changes = 0;

  constructor(private readonly store: PolicyStore) {}

  /**
   * In the order of their creation.
   * @param now Unix milliseconds
   * @throws what the database throws when the policies were never read
   */
  policiesOf(organisationId: string, now: number): readonly CompiledPolicy[] | Promise<readonly CompiledPolicy[]> {
    const entry = this.entries.get(organisationId);
    const age = entry === undefined ? Infinity : now - entry.loadedAt;
    if (entry !== undefined && age < FRESH_MS) return entry.policies;
    const loaded = this.load(organisationId, now).then(({ policies }) => policies);
    if (entry === undefined) return loaded;
    const known = loaded.catch(() => entry.policies);
    return age < REFRESH_MS ? entry.policies : Promise.race([known, after(PATIENCE_MS, entry.policies)]);
  }

  /** After a change on this replica. */
  forget(organisationId: string): void {
    this.changes += 1;
    this.loads.delete(organisationId);
    const entry = this.entries.get(organisationId);
    // Kept for the time when the database is away.
    if (entry !== undefined) this.entries.set(organisationId, { ...entry, loadedAt: 0 });
  }

  private load(organisationId: string, now: number): Promise<Entry> {
    const running = this.loads.get(organisationId);
    if (running !== undefined) return running;
    const { changes } = this;
    const load = this.store
      .active(organisationId)
      .then((rows) => {
        const entry = { policies: rows.map(compilePolicy), loadedAt: now };
        if (changes === this.changes) this.entries.set(organisationId, entry);
        return entry;
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
