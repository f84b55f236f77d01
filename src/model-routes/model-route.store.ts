import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { EntityManager, Repository } from 'typeorm';
import type { Principal } from '../access/principal.js';
import { meantRow, onlyRow, refWhere, tenantWhere } from '../access/tenant-where.js';
import { auditRecords, namedFields } from '../audit/audit-record.js';
import { AuditService } from '../audit/audit.service.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { violatedUniqueIndex } from '../database/database-errors.js';
import { both, pageAndOrder, searched } from '../database/list-options.js';
import { insertRow, updateRow } from '../database/rows.js';
import type { ModelRouteListQuery } from './dto/model-route-list.query.js';
import { ModelRoute } from './model-route.entity.js';
import { toModelRouteResponse } from './model-route.response.js';

const SHARED_FIRST = { workspaceId: { direction: 'ASC', nulls: 'FIRST' } } as const;
const AMBIGUOUS = 'Several model routes have this slug; name the one that is meant by its id.';
/** More than anyone names. */
const MAX_ROUTES = 2_000;

const entryOf = auditRecords<'create' | 'update' | 'delete'>('model_routes', 'model-route');

/** Reads and writes model routes, always within a tenant, and every change together with its entry in the audit log. */
@Injectable()
export class ModelRouteStore {
  constructor(
    @InjectRepository(ModelRoute) private readonly rows: Repository<ModelRoute>,
    private readonly audit: AuditService,
  ) {}

  get manager(): EntityManager {
    return this.rows.manager;
  }

  /** All of an organisation, for calls. */
  async all(organisationId: string): Promise<ModelRoute[]> {
    return this.rows.find({ where: { organisationId }, order: { name: 'ASC', id: 'ASC' }, take: MAX_ROUTES });
  }

  /** @param owner limits the list to one workspace that the caller can see */
  async list(
    principal: Principal,
    query: ModelRouteListQuery,
    owner: { readonly workspaceId?: string },
  ): Promise<[ModelRoute[], number]> {
    const where = both(
      [{ ...owner, ...tenantWhere(principal) }],
      searched(query.search, ['name', 'slug', 'description']),
    );
    return this.rows.findAndCount({ where, ...pageAndOrder(query) });
  }

  /** @throws GatewayError `not_found`, or `conflict` when a slug names routes of several workspaces */
  async get(principal: Principal, ref: string): Promise<ModelRoute> {
    return meantRow(await find(this.manager, principal, ref), AMBIGUOUS);
  }

  /** @throws GatewayError `conflict` for a name that is taken */
  async create(
    manager: EntityManager,
    principal: Principal,
    fields: Partial<ModelRoute>,
    body: object,
  ): Promise<ModelRoute> {
    const count = await manager.countBy(ModelRoute, { organisationId: principal.organisationId });
    if (count >= MAX_ROUTES)
      throw new GatewayError('conflict', { message: `An organisation can have ${MAX_ROUTES} model routes.` });
    const row = await insertRow(manager, manager.create(ModelRoute, fields)).catch(throwNameTaken);
    await this.audit.record(manager, principal, entryOf('create', row, namedFields(body), { after: shown(row) }));
    return row;
  }

  /**
   * The route is locked between the read that `changesOf` gets and the write of what it returns.
   * @throws GatewayError as `get` and `create`
   */
  async change(
    principal: Principal,
    ref: string,
    body: object,
    changesOf: (row: ModelRoute, manager: EntityManager) => Promise<Partial<ModelRoute>>,
  ): Promise<ModelRoute> {
    return this.manager.transaction(async (manager) => {
      const row = meantRow(await find(manager, principal, ref, { mode: 'pessimistic_write' }), AMBIGUOUS);
      const changed = await updateRow(manager, row, await changesOf(row, manager)).catch(throwNameTaken);
      if (changed === row) return row;
      const snapshots = { before: shown(row), after: shown(changed) };
      await this.audit.record(manager, principal, entryOf('update', changed, namedFields(body), snapshots));
      return changed;
    });
  }

  /** @throws GatewayError `not_found`, or `conflict` when a slug names several routes */
  async delete(principal: Principal, ref: string): Promise<void> {
    await this.manager.transaction(async (manager) => {
      const row = onlyRow(await find(manager, principal, ref, { mode: 'pessimistic_write' }), AMBIGUOUS);
      await manager.delete(ModelRoute, { id: row.id, organisationId: row.organisationId });
      await this.audit.record(manager, principal, entryOf('delete', row, [], { before: shown(row) }));
    });
  }
}

function find(
  manager: EntityManager,
  principal: Principal,
  ref: string,
  lock?: { readonly mode: 'pessimistic_write' },
): Promise<ModelRoute[]> {
  const where = { ...refWhere(ref), ...tenantWhere(principal) };
  return manager.find(ModelRoute, { where, order: SHARED_FIRST, take: 2, lock });
}

/** For the audit log. */
function shown(row: ModelRoute): object {
  return toModelRouteResponse(row);
}

function throwNameTaken(error: unknown): never {
  if (violatedUniqueIndex(error)?.endsWith('name') !== true) throw error;
  throw new GatewayError('conflict', { param: 'name', message: 'name is already taken' });
}
