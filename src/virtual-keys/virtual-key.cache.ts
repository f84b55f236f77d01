import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { BodyLogging, Principal } from '../access/principal.js';
import { type MaybePromise, chain } from '../common/maybe-promise.js';
import { LookupCache } from '../common/cache/lookup-cache.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { AppConfig } from '../config/environment.js';
import { outageFallback } from '../database/outage-fallback.js';
import type { Credential, Provider } from '../upstream/providers/provider.types.js';
import { WorkspacesService } from '../workspaces/workspaces.service.js';
import { CredentialRefusals } from './credential-refusals.js';
import { type CredentialSource, VirtualKeyCredentials } from './virtual-key.credentials.js';
import { type VirtualKeyName, VirtualKeyStore } from './virtual-key.store.js';

/** A change must be felt on every replica within 10 s; half of it leaves room for slow look-ups. */
const CACHE_MS = 5_000;
const UNKNOWN_CACHE_MS = 1_000;
const MAX_ENTRIES = 10_000;

/** A virtual key opened for use: in memory only, and for a few seconds (longer with DATABASE_OUTAGE_GRACE_SECONDS). */
export interface UsableVirtualKey {
  readonly id: string;
  readonly organisationId: string;
  readonly slug: string;
  readonly workspaceId: string | null;
  /** Of its workspace, for callers without one; the others bring their own. */
  readonly defaultMetadata: Readonly<Record<string, string>>;
  /** How that workspace keeps the bodies of calls. */
  readonly logBodies?: BodyLogging | undefined;
  readonly provider: Provider;
  readonly credential: Credential;
  /** Unix milliseconds; Infinity: never. */
  readonly expiresAt: number;
  /** Where to read the credential again; undefined when all of it is stored. */
  readonly source: CredentialSource | undefined;
}

type Lookup = { readonly principal: Principal; readonly named: VirtualKeyName };
type Entry = { readonly found: UsableVirtualKey | undefined } | { readonly failure: GatewayError };

@Injectable()
export class VirtualKeyCache {
  private readonly keys: LookupCache<Entry, Lookup>;
  private readonly renewals = new WeakMap<UsableVirtualKey, Promise<UsableVirtualKey | undefined>>();

  constructor(
    private readonly store: VirtualKeyStore,
    private readonly credentials: VirtualKeyCredentials,
    private readonly workspaces: WorkspacesService,
    private readonly refusals: CredentialRefusals,
    config: AppConfig,
  ) {
    this.keys = new LookupCache({
      maxEntries: MAX_ENTRIES,
      ttlOf: (entry) => ('failure' in entry || entry.found === undefined ? UNKNOWN_CACHE_MS : CACHE_MS),
      lookUp: (lookup) => this.lookUp(lookup),
      fallback: outageFallback(config),
    });
    credentials.onChange(() => this.clear());
  }

  /**
   * The key that a caller means by a slug; undefined when there is none that it may use. `now` in Unix milliseconds.
   * @throws GatewayError `secret_unavailable`
   */
  find(principal: Principal, slug: string, now: number): MaybePromise<UsableVirtualKey | undefined> {
    return this.use(`${tenantOf(principal)}/${slug}`, { principal, named: { slug } }, now);
  }

  /** The key with this id; undefined when the caller may not use it. */
  findById(principal: Principal, id: string, now: number): MaybePromise<UsableVirtualKey | undefined> {
    // A slug from a request is not checked yet: its names begin with the organisation.
    return this.use(`#${tenantOf(principal)}/${id}`, { principal, named: { id } }, now);
  }

  private use(name: string, lookup: Lookup, now: number): MaybePromise<UsableVirtualKey | undefined> {
    return chain(this.keys.find(name, lookup), (entry) => {
      if ('failure' in entry) throw entry.failure;
      return entry.found !== undefined && now < entry.found.expiresAt ? entry.found : undefined;
    });
  }

  /**
   * The same key after its provider has refused the credential, when its secrets are others by now; undefined when they are
   * not. However many requests were refused, they share one answer.
   */
  async renew(virtualKey: UsableVirtualKey): Promise<UsableVirtualKey | undefined> {
    const { source } = virtualKey;
    if (source === undefined) return undefined;
    let renewal = this.renewals.get(virtualKey);
    if (renewal === undefined) {
      renewal = this.readAgain(virtualKey, source);
      this.renewals.set(virtualKey, renewal);
      renewal.catch(() => this.renewals.delete(virtualKey));
    }
    return renewal;
  }

  /** The provider refuses the credential, and no newer one is known. */
  noteRefused(virtualKey: UsableVirtualKey): void {
    this.refusals.note(virtualKey);
  }

  /** After a change on this replica: it should be felt at once here, and within the cache's time elsewhere. */
  clear(): void {
    this.keys.clear();
  }

  private async readAgain(
    virtualKey: UsableVirtualKey,
    source: CredentialSource,
  ): Promise<UsableVirtualKey | undefined> {
    const credential = await this.credentials.open(source, 'fresh').catch(asFailure);
    if (credential instanceof GatewayError || isDeepStrictEqual(credential, virtualKey.credential)) return undefined;
    this.keys.forget((entry) => 'found' in entry && entry.found === virtualKey);
    return { ...virtualKey, credential };
  }

  private async lookUp({ principal, named }: Lookup): Promise<Entry> {
    const row = await this.store.findForUse(principal, named);
    if (row === undefined) return { found: undefined };
    const { id, organisationId, workspaceId, slug } = row;
    const provider = this.credentials.providerOf(row);
    const { defaultMetadata, logBodies } = await this.workspaces.settingsFor(principal, row);
    try {
      const source = await this.credentials.sourceOf(row);
      const credential = await this.credentials.open(source);
      const expiresAt = row.expiresAt?.getTime() ?? Infinity;
      const reread = source.mappings.length === 0 ? undefined : source;
      const known = { id, organisationId, slug, workspaceId, defaultMetadata, logBodies };
      return { found: { ...known, provider, credential, expiresAt, source: reread } };
    } catch (error) {
      return { failure: asFailure(error) };
    }
  }
}

function tenantOf({ organisationId, workspaceId }: Principal): string {
  return `${organisationId}/${workspaceId ?? '*'}`;
}

/** A missing credential is cached for a moment too, since the lookup takes a database and a manager. */
function asFailure(error: unknown): GatewayError {
  if (error instanceof GatewayError && error.code === 'secret_unavailable') return error;
  throw error;
}
