import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { EntityManager, Repository } from 'typeorm';
import type { Principal } from '../../access/principal.js';
import { refWhere, tenantWhere } from '../../access/tenant-where.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { toSkipTake } from '../../common/pagination/list.js';
import type { PageQuery } from '../../common/pagination/page.query.js';
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
  userIdentityForwarding: true,
  jwtValidation: true,
  forwardHeaders: true,
  allowedOrigins: true,
  timeouts: true,
  enabled: true,
  createdAt: true,
  updatedAt: true,
} as const;

/** Reads MCP servers, always within a tenant. */
@Injectable()
export class McpServerStore {
  constructor(@InjectRepository(McpServer) readonly rows: Repository<McpServer>) {}

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
    return findOnly(manager, principal, ref, { mode: 'pessimistic_write' });
  }
}

async function findOnly(
  manager: EntityManager,
  principal: Principal,
  ref: string,
  lock?: { readonly mode: 'pessimistic_write' },
): Promise<McpServer> {
  const where = { ...refWhere(ref), ...tenantWhere(principal) };
  const [row, another] = await manager.find(McpServer, { select: WITH_SECRETS, where, take: 2, lock });
  if (row === undefined) throw new GatewayError('not_found');
  if (another === undefined) return row;
  throw new GatewayError('conflict', {
    message: 'Several workspaces have an MCP server with this slug; name it by its id.',
  });
}
