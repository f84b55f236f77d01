import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { EntityManager, Repository } from 'typeorm';
import { onlyRow } from '../../access/only-row.js';
import type { Principal } from '../../access/principal.js';
import { refWhere, tenantWhere } from '../../access/tenant-where.js';
import { toSkipTake } from '../../common/pagination/list.js';
import type { PageQuery } from '../../common/pagination/page.query.js';
import type { SecretMappingDto } from '../../secret-references/dto/secret-mapping.dto.js';
import { SecretMappingsService, type SecretOwner } from '../../secret-references/secret-mappings.service.js';
import { McpServer } from './mcp-server.entity.js';

/** Sealed columns are left out of queries unless they are named. */
export const WITH_SECRETS = {
  id: true,
  organisationId: true,
  workspaceId: true,
  slug: true,
  name: true,
  description: true,
  url: true,
  transport: true,
  authType: true,
  sealedSecrets: true,
  secretMappings: true,
  userIdentityForwarding: true,
  jwtValidation: true,
  forwardHeaders: true,
  allowedOrigins: true,
  timeouts: true,
  enabled: true,
  createdAt: true,
  updatedAt: true,
} as const;

const AMBIGUOUS = 'Several workspaces have an MCP server with this slug; name it by its id.';

/** Reads and writes MCP servers, always within a tenant. */
@Injectable()
export class McpServerStore {
  constructor(
    @InjectRepository(McpServer) readonly rows: Repository<McpServer>,
    private readonly mappings: SecretMappingsService,
  ) {}

  /**
   * Writes a row, and the mappings when some are given; none are needed for what they are now.
   * @throws GatewayError `validation_failed` for secret references that the server may not use
   */
  async save(manager: EntityManager, row: McpServer, mappings?: readonly SecretMappingDto[]): Promise<McpServer> {
    const saved = await manager.save(row);
    if (mappings === undefined) return saved;
    return Object.assign(saved, { secretMappings: await this.mappings.replace(manager, ownerOf(saved), mappings) });
  }

  async remove(manager: EntityManager, row: McpServer): Promise<void> {
    await this.mappings.remove(manager, ownerOf(row));
    await manager.delete(McpServer, { id: row.id, organisationId: row.organisationId });
  }

  async list(principal: Principal, page: PageQuery): Promise<[McpServer[], number]> {
    return this.rows.findAndCount({
      select: WITH_SECRETS,
      where: tenantWhere(principal),
      order: { createdAt: 'DESC', id: 'DESC' },
      ...toSkipTake(page),
    });
  }

  /**
   * One server that the caller manages.
   * @throws GatewayError `not_found`, or `conflict` when a slug names servers of several workspaces
   */
  async get(principal: Principal, ref: string): Promise<McpServer> {
    return findOnly(this.rows.manager, principal, ref);
  }

  /** The same in a transaction, until whose end nobody else changes the server. */
  async getForChange(manager: EntityManager, principal: Principal, ref: string): Promise<McpServer> {
    const { id } = await findOnly(manager, principal, ref, { mode: 'pessimistic_write' });
    // Read after the lock: of what another change had just written, that statement may have seen the row alone.
    return findOnly(manager, principal, id);
  }
}

function ownerOf({ id, slug, organisationId, workspaceId }: McpServer): SecretOwner {
  return { type: 'mcp-server', id, slug, organisationId, workspaceId };
}

async function findOnly(
  manager: EntityManager,
  principal: Principal,
  ref: string,
  lock?: { readonly mode: 'pessimistic_write' },
): Promise<McpServer> {
  const where = { ...refWhere(ref), ...tenantWhere(principal) };
  return onlyRow(await manager.find(McpServer, { select: WITH_SECRETS, where, take: 2, lock }), AMBIGUOUS);
}
