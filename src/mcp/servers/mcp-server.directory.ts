import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { type EntityManager, type FindOperator, IsNull } from 'typeorm';
import { refWhere } from '../../access/tenant-where.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { SLUG_PATTERN } from '../../common/slug.js';
import { Workspace } from '../../workspaces/workspace.entity.js';
import { McpServerDefinitions } from './mcp-server.definitions.js';
import { McpServer } from './mcp-server.entity.js';
import { McpServerStore, WITH_SECRETS } from './mcp-server.store.js';
import { McpServerTools } from './mcp-server.tools.js';
import type { UsableMcpServer } from './usable-mcp-server.js';

/** A change must be felt on every replica within 10 s; half of it leaves room for slow look-ups. */
const CACHE_MS = 5_000;
const UNKNOWN_CACHE_MS = 1_000;
const MAX_ENTRIES = 10_000;
/** An address that two servers answer to is already one too many. */
const ENOUGH_CANDIDATES = 3;

/** The parts of an MCP address: `/{workspace}/{server}/mcp`, the workspace by slug or id, or `/{server}/mcp`. */
export interface ServerAddress {
  readonly workspace?: string | undefined;
  readonly server: string;
}

/** Whom a server must belong to. */
export interface Tenant {
  readonly organisationId: string;
  /** null: it may be in every workspace of the organisation. */
  readonly workspaceId: string | null;
}

interface Lookup {
  readonly address: ServerAddress;
  readonly tenant: Tenant | undefined;
}

type Entries = LRUCache<string, { readonly found: readonly UsableMcpServer[] }, Lookup>;

/** Finds the server that an address means. Opened definitions stay in memory for a few seconds. */
@Injectable()
export class McpServerDirectory {
  private entries: Entries;

  constructor(
    private readonly store: McpServerStore,
    private readonly definitions: McpServerDefinitions,
    private readonly tools: McpServerTools,
  ) {
    this.entries = this.emptyCache();
    definitions.onChange(() => this.clear());
  }

  /**
   * The server as a caller of the tenant sees it: of its own workspace first, then of the whole organisation.
   * @throws GatewayError `not_found`, or `conflict` when servers of several workspaces have the name
   */
  async find(address: ServerAddress, tenant: Tenant): Promise<UsableMcpServer> {
    const found = await this.lookUp(address, tenant);
    const shared = found.find((server) => server.workspaceId === null);
    const own = found.filter((server) => server.workspaceId !== null);
    const [only = shared, another] = own;
    if (only === undefined) throw new GatewayError('not_found', { message: 'There is no such MCP server.' });
    if (another === undefined) return only;
    throw new GatewayError('conflict', {
      message: 'Several workspaces have an MCP server of this name; put the workspace before it in the address.',
    });
  }

  /** The server before the caller is known: only when no other, of whatever tenant, has the same address. */
  async findUnambiguous(address: ServerAddress): Promise<UsableMcpServer | undefined> {
    const [only, another] = await this.lookUp(address, undefined);
    return another === undefined ? only : undefined;
  }

  /** After a change on this replica: it is felt at once here, and within the cache's time elsewhere. */
  clear(): void {
    // A new cache, since clearing this one would fail every look-up that a request is waiting for.
    this.entries = this.emptyCache();
  }

  private async lookUp(address: ServerAddress, tenant: Tenant | undefined): Promise<readonly UsableMcpServer[]> {
    if (!SLUG_PATTERN.test(address.server)) return [];
    const key = JSON.stringify([tenant?.organisationId, tenant?.workspaceId, address.workspace, address.server]);
    const entry = await this.entries.fetch(key, { context: { address, tenant } });
    return entry?.found ?? [];
  }

  private emptyCache(): Entries {
    return new LRUCache({
      max: MAX_ENTRIES,
      ttl: CACHE_MS,
      fetchMethod: async (_key, _stale, { context, options }) => {
        const found = await this.load(context);
        if (found.length === 0) options.ttl = UNKNOWN_CACHE_MS;
        return { found };
      },
    });
  }

  private async load({ address, tenant }: Lookup): Promise<readonly UsableMcpServer[]> {
    const { manager } = this.store;
    const where = await placesOf(manager, address, tenant);
    if (where.length === 0) return [];
    const rows = await manager.find(McpServer, {
      select: WITH_SECRETS,
      where: where.map((place) => ({ ...place, slug: address.server, enabled: true })),
      order: { createdAt: 'ASC', id: 'ASC' },
      take: ENOUGH_CANDIDATES,
    });
    return Promise.all(
      rows.map(async (row) => this.definitions.openForUse(row, await this.tools.disabledNames(row.id))),
    );
  }
}

interface Place {
  readonly organisationId?: string;
  readonly workspaceId?: FindOperator<string> | string;
}

/** Where a server of this address may be. */
async function placesOf(
  manager: EntityManager,
  { workspace }: ServerAddress,
  tenant: Tenant | undefined,
): Promise<readonly Place[]> {
  if (workspace === undefined) return tenant === undefined ? [{}] : placesIn(tenant);
  const where = tenant === undefined ? {} : { organisationId: tenant.organisationId };
  const named = await manager.find(Workspace, { where: { ...refWhere(workspace), ...where }, take: ENOUGH_CANDIDATES });
  const allowed = named.filter(({ id }) => (tenant?.workspaceId ?? id) === id);
  return allowed.flatMap(({ id, organisationId }) => placesIn({ organisationId, workspaceId: id }));
}

function placesIn({ organisationId, workspaceId }: Tenant): readonly Place[] {
  if (workspaceId === null) return [{ organisationId }];
  return [
    { organisationId, workspaceId },
    { organisationId, workspaceId: IsNull() },
  ];
}
