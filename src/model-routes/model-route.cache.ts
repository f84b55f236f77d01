import { Injectable } from '@nestjs/common';
import type { Tenant } from '../access/principal.js';
import { type MaybePromise, chain } from '../common/maybe-promise.js';
import { StaleWhileRevalidateCache } from '../database/stale-while-revalidate.cache.js';
import { ModelRouteStore } from './model-route.store.js';
import { compileTarget, type KnownTarget } from './target-terms.js';

/** A model route, for a call. */
export interface KnownRoute {
  readonly workspaceId: string | null;
  readonly name: string;
  /** In the order in which they are tried. */
  readonly targets: readonly KnownTarget[];
  readonly output: RouteOutput;
  readonly createdAt: Date;
}

/** What the calls of a route may write. */
export interface RouteOutput {
  /** null: no cap of its own. */
  readonly maxTokens: number | null;
  /** Whether a call that does not fit into its usage limits gets a lower cap. */
  readonly isClamped: boolean;
}

/** Of one organisation, by name. */
type KnownRoutes = ReadonlyMap<string, readonly KnownRoute[]>;

/** The model routes, by organisation. */
@Injectable()
export class ModelRouteCache extends StaleWhileRevalidateCache<KnownRoutes> {
  constructor(store: ModelRouteStore) {
    super(async (organisationId) => {
      const routes = new Map<string, KnownRoute[]>();
      for (const row of await store.all(organisationId)) {
        const { workspaceId, name, targets, createdAt, maxOutputTokens, clampOutput } = row;
        const output = { maxTokens: maxOutputTokens, isClamped: clampOutput };
        const route = { workspaceId, name, targets: inOrder(targets.map(compileTarget)), output, createdAt };
        const known = routes.get(name);
        if (known === undefined) routes.set(name, [route]);
        else known.push(route);
      }
      return routes;
    });
  }

  /** The route that a call means: that of its workspace first, then that of the whole organisation. */
  find(tenant: Tenant, name: string, now: number): MaybePromise<KnownRoute | undefined> {
    return chain(this.get(tenant.organisationId, now), (routes) => meant(routes.get(name) ?? [], tenant));
  }

  /** All that the calls of a tenant can mean, by name. */
  visibleTo(tenant: Tenant, now: number): MaybePromise<readonly KnownRoute[]> {
    return chain(this.get(tenant.organisationId, now), (routes) =>
      [...routes.values()].flatMap((named) => meant(named, tenant) ?? []),
    );
  }
}

/** A caller of the whole organisation does not say which workspace it means: of several routes, it means none. */
function meant(routes: readonly KnownRoute[], { workspaceId }: Tenant): KnownRoute | undefined {
  const shared = routes.find((route) => route.workspaceId === null);
  if (workspaceId !== null) return routes.find((route) => route.workspaceId === workspaceId) ?? shared;
  return shared ?? (routes.length === 1 ? routes[0] : undefined);
}

function inOrder(targets: readonly KnownTarget[]): readonly KnownTarget[] {
  return targets.toSorted((one, other) => one.order - other.order);
}
