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

@Injectable()
export class VirtualKeyCache {
  private readonly keys: LRUCache<string, { readonly found: UsableVirtualKey | undefined }, Lookup>;

  constructor(store: VirtualKeyStore, credentials: VirtualKeyCredentials) {
    this.keys = new LRUCache<string, { readonly found: UsableVirtualKey | undefined }, Lookup>({
      max: MAX_ENTRIES,
      ttl: CACHE_MS,
      fetchMethod: async (_name, _stale, { context: { principal, slug }, options }) => {
        const row = await store.findForUse(principal, slug);
        if (row === undefined) {
          options.ttl = UNKNOWN_CACHE_MS;
          return { found: undefined };
        }
        const vendor = credentials.vendorOf(row);
        const { id, workspaceId } = row;
        const expiresAt = row.expiresAt?.getTime() ?? Infinity;
        return { found: { id, slug, workspaceId, vendor, credential: credentials.open(row), expiresAt } };
      },
    });
  }

  /** The key that a caller means by a slug; undefined when there is none that it may use. `now` in Unix milliseconds. */
  async find(principal: Principal, slug: string, now: number): Promise<UsableVirtualKey | undefined> {
    const name = `${principal.organisationId}/${principal.workspaceId ?? '*'}/${slug}`;
    const entry = this.keys.get(name) ?? (await this.keys.fetch(name, { context: { principal, slug } }));
    const found = entry?.found;
    return found !== undefined && now < found.expiresAt ? found : undefined;
  }

  clear(): void {
    this.keys.clear();
  }
}
