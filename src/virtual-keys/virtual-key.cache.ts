import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Principal } from '../access/principal.js';
import type { Credential, Vendor } from '../upstream/vendors/vendor.types.js';
import { VirtualKeyCredentials } from './virtual-key.credentials.js';
import { VirtualKeyStore } from './virtual-key.store.js';

/** A change must be felt on every replica within 10 s; half of it leaves room for slow look-ups. */
const CACHE_MS = 5_000;
const UNKNOWN_CACHE_MS = 1_000;
const MAX_ENTRIES = 10_000;

/** A virtual key opened for use: in memory only, and for a few seconds. */
export interface UsableVirtualKey {
  readonly id: string;
  readonly slug: string;
  readonly workspaceId: string | null;
  readonly vendor: Vendor;
  readonly credential: Credential;
  /** Unix milliseconds; Infinity: never. */
  readonly expiresAt: number;
}

type Lookup = { readonly principal: Principal; readonly slug: string };
type Entries = LRUCache<string, { readonly found: UsableVirtualKey | undefined }, Lookup>;

@Injectable()
export class VirtualKeyCache {
  private keys: Entries;

  constructor(
    private readonly store: VirtualKeyStore,
    private readonly credentials: VirtualKeyCredentials,
  ) {
    this.keys = this.emptyCache();
  }

  /** The key that a caller means by a slug; undefined when there is none that it may use. `now` in Unix milliseconds. */
  async find(principal: Principal, slug: string, now: number): Promise<UsableVirtualKey | undefined> {
    const name = `${principal.organisationId}/${principal.workspaceId ?? '*'}/${slug}`;
    const entry = this.keys.get(name) ?? (await this.keys.fetch(name, { context: { principal, slug } }));
    const found = entry?.found;
    return found !== undefined && now < found.expiresAt ? found : undefined;
  }

  /** After a change on this replica: it should be felt at once here, and within the cache's time elsewhere. */
  clear(): void {
    // A new cache, since clearing this one would fail every look-up that a request is waiting for.
    this.keys = this.emptyCache();
  }

  private emptyCache(): Entries {
    return new LRUCache<string, { readonly found: UsableVirtualKey | undefined }, Lookup>({
      max: MAX_ENTRIES,
      ttl: CACHE_MS,
      fetchMethod: async (_name, _stale, { context: { principal, slug }, options }) => {
        const row = await this.store.findForUse(principal, slug);
        if (row === undefined) {
          options.ttl = UNKNOWN_CACHE_MS;
          return { found: undefined };
        }
        const vendor = this.credentials.vendorOf(row);
        const { id, workspaceId } = row;
        const expiresAt = row.expiresAt?.getTime() ?? Infinity;
        return { found: { id, slug, workspaceId, vendor, credential: this.credentials.open(row), expiresAt } };
      },
    });
  }
}
