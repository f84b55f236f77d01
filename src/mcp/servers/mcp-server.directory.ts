import { Injectable } from '@nestjs/common';
import { type EntityManager, type FindOperator, IsNull, Not, Raw } from 'typeorm';
import type { Tenant } from '../../access/principal.js';
import { ownOrSharedWhere, refWhere } from '../../access/tenant-where.js';
import { type MaybePromise, chain } from '../../common/maybe-promise.js';
import { LookupCache } from '../../common/cache/lookup-cache.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { SLUG_PATTERN } from '../../common/slug.js';
import { isUuid } from '../../common/uuid.js';
import { AppConfig } from '../../config/environment.js';
import { outageFallback } from '../../database/outage-fallback.js';
import { allColumns } from '../../database/rows.js';
import { Workspace } from '../../workspaces/workspace.entity.js';
import { WorkspacesService } from '../../workspaces/workspaces.service.js';
import { McpServerDefinitions } from './mcp-server.definitions.js';
import { McpServer } from './mcp-server.entity.js';
import { McpServerStore } from './mcp-server.store.js';
import { McpServerToolStore } from './mcp-server-tool.store.js';
import type { UsableMcpServer } from './usable-mcp-server.js';

/** A change must take effect on every replica within 10 s. Half of that leaves room for slow look-ups. */
const CACHE_MS = 5_000;
const UNKNOWN_CACHE_MS = 1_000;
const MAX_ENTRIES = 10_000;
/** Shared servers come first. Of the others, two are already ambiguous. */
const ENOUGH_CANDIDATES = 3;

/** The parts of an MCP address: `/{workspace}/{server}/mcp`, the workspace by slug or id, or `/{server}/mcp`. */
export interface ServerAddress {
  readonly workspace?: string | undefined;
  readonly server: string;
}

interface Lookup {
  readonly address: ServerAddress;
  readonly tenant: Tenant | undefined;
}

/** The result of a look-up: one server, none, or several of equal precedence. */
interface Meaning {
  readonly server: UsableMcpServer | undefined;
  readonly isAmbiguous: boolean;
}

/** Finds the server of an address. Opened definitions are cached for a few seconds. */
@Injectable()
export class McpServerDirectory {
  private readonly meanings: LookupCache<Meaning, Lookup>;

  constructor(
    private readonly store: McpServerStore,
    private readonly definitions: McpServerDefinitions,
    private readonly tools: McpServerToolStore,
    private readonly workspaces: WorkspacesService,
    config: AppConfig,
  ) {
    this.meanings = new LookupCache({
      maxEntries: MAX_ENTRIES,
      ttlOf: (meaning) => (meaning === NOTHING ? UNKNOWN_CACHE_MS : CACHE_MS),
      lookUp: (lookup) => this.load(lookup),
      fallback: outageFallback(config),
    });
    definitions.onChange(() => this.clear());
    tools.onHold(() => this.clear());
  }

  /**
   * Finds the server for a caller of the tenant. With a workspace (the caller's or the address's), a server of the
   * workspace takes precedence over one of the organisation. Without one, a server of the organisation takes precedence
   * over the only one of a workspace.
   * @throws GatewayError `not_found`, or `conflict` when servers of several workspaces have the name
   */
  find(address: ServerAddress, tenant: Tenant): MaybePromise<UsableMcpServer> {
    return chain(this.lookUp(address, tenant), theServer);
  }

  /**
   * Finds the server before the caller is known, by the same rule, unless another organisation has the same address.
   */
  findUnambiguous(address: ServerAddress): MaybePromise<UsableMcpServer | undefined> {
    return chain(this.lookUp(address, undefined), ({ server }) => server);
  }

  /** Call after a change on this replica: it takes effect here at once, and elsewhere within the time of the cache. */
  clear(): void {
    this.meanings.clear();
  }

  private lookUp(address: ServerAddress, tenant: Tenant | undefined): MaybePromise<Meaning> {
    if (!SLUG_PATTERN.test(address.server)) return NOTHING;
    return this.meanings.find(keyOf(address, tenant), { address, tenant });
  }

  private async load({ address, tenant }: Lookup): Promise<Meaning> {
    const { manager } = this.store;
    const rows = await candidatesFor(manager, address, tenant);
    const [first] = rows;
    if (first === undefined) return NOTHING;
    if (tenant === undefined && (await isElsewhere(manager, address, first, rows))) return AMBIGUOUS;
    const hasWorkspace = address.workspace !== undefined || (tenant?.workspaceId ?? null) !== null;
    const [row, another] = preferred(rows, hasWorkspace);
    if (row === undefined || another !== undefined) return AMBIGUOUS;
    // Only the chosen server is opened: a secret that does not decrypt must not block other servers.
    const rules = await this.tools.rulesOf(row);
    const settings = await this.workspaces.settingsFor(tenant, row);
    const server = await this.definitions.openForUse(row, { ...settings, ...rules });
    return { server, isAmbiguous: false };
  }
}

/** Ids and server names contain no slash, so keys of different addresses differ. */
function keyOf({ workspace, server }: ServerAddress, tenant: Tenant | undefined): string {
  const place = workspace === undefined ? server : `${workspace}/${server}`;
  return tenant === undefined ? `-/${place}` : `${tenant.organisationId}/${tenant.workspaceId ?? ''}/${place}`;
}

const NOTHING: Meaning = { server: undefined, isAmbiguous: false };
const AMBIGUOUS: Meaning = { server: undefined, isAmbiguous: true };

function theServer({ server, isAmbiguous }: Meaning): UsableMcpServer {
  if (server !== undefined) return server;
  if (!isAmbiguous) throw noSuchServer();
  throw new GatewayError('conflict', {
    message: 'Several workspaces have an MCP server of this name; put the workspace before it in the address.',
  });
}

/** @param reason for the log */
export function noSuchServer(reason?: string): GatewayError {
  return new GatewayError('not_found', { message: 'There is no such MCP server.', reason });
}

function preferred(rows: readonly McpServer[], hasWorkspace: boolean): readonly McpServer[] {
  const shared = rows.filter(({ workspaceId }) => workspaceId === null);
  const own = rows.filter(({ workspaceId }) => workspaceId !== null);
  const [first, second] = hasWorkspace ? [own, shared] : [shared, own];
  return first.length > 0 ? first : second;
}

async function candidatesFor(
  manager: EntityManager,
  address: ServerAddress,
  tenant: Tenant | undefined,
): Promise<readonly McpServer[]> {
  const where = await placesOf(manager, address, tenant);
  if (where.length === 0) return [];
  return manager.find(McpServer, {
    select: allColumns(manager.connection.getMetadata(McpServer)),
    where: where.map((place) => ({ ...place, slug: address.server, enabled: true })),
    order: { workspaceId: { direction: 'ASC', nulls: 'FIRST' } },
    take: ENOUGH_CANDIDATES,
  });
}

/** Whether another organisation has a server at this address too. */
async function isElsewhere(
  manager: EntityManager,
  { workspace, server: slug }: ServerAddress,
  { organisationId }: McpServer,
  candidates: readonly McpServer[],
): Promise<boolean> {
  if (candidates.some((row) => row.organisationId !== organisationId)) return true;
  // With a workspace, each organisation has at most two servers, and all are candidates.
  if (workspace !== undefined || candidates.length < ENOUGH_CANDIDATES) return false;
  return manager.exists(McpServer, { where: { slug, enabled: true, organisationId: Not(organisationId) } });
}

interface Place {
  readonly organisationId?: FindOperator<string> | string;
  readonly workspaceId?: FindOperator<string> | string;
}

/** The places where a server of this address may be. */
async function placesOf(
  manager: EntityManager,
  { workspace }: ServerAddress,
  tenant: Tenant | undefined,
): Promise<readonly Place[]> {
  if (workspace === undefined) return tenant === undefined ? [{}] : ownOrSharedWhere(tenant);
  if (tenant === undefined && !isUuid(workspace)) return SLUG_PATTERN.test(workspace) ? placesNamed(workspace) : [];
  const where = tenant === undefined ? {} : { organisationId: tenant.organisationId };
  const named = await manager.findOneBy(Workspace, { ...refWhere(workspace), ...where });
  if (named === null || (tenant?.workspaceId ?? named.id) !== named.id) return [];
  return ownOrSharedWhere({ organisationId: named.organisationId, workspaceId: named.id });
}

/** Many organisations may have a workspace of this slug, so the database searches for those with the server. */
function placesNamed(slug: string): readonly Place[] {
  const oneOf = (column: string): FindOperator<string> =>
    Raw((alias) => `${alias} IN (SELECT "${column}" FROM "workspaces" WHERE "slug" = :slug)`, { slug });
  return [{ workspaceId: oneOf('id') }, { workspaceId: IsNull(), organisationId: oneOf('organisation_id') }];
}
