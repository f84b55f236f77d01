import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import {
  type EntityManager,
  type FindManyOptions,
  type FindOptionsWhere,
  In,
  IsNull,
  Not,
  Raw,
  type Repository,
} from 'typeorm';
import type { Principal } from '../access/principal.js';
import { refWhere } from '../access/tenant-where.js';
import type { Snapshots } from '../audit/audit-changes.js';
import { type AuditRecord, auditRecords } from '../audit/audit-record.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { withoutUndefined } from '../common/without-undefined.js';
import { both, pageAndOrder, searched } from '../database/list-options.js';
import { allColumns } from '../database/rows.js';
import { readManagerName } from './auth-config/auth-schemes.js';
import type { SecretReferenceListQuery } from './dto/secret-reference-list.query.js';
import { SecretMapping } from './secret-mapping.entity.js';
import { SecretReference } from './secret-reference.entity.js';
import type { WorkspaceAccess } from './workspace-access.js';

type Verb = 'create' | 'update' | 'delete' | 'test';

const recordOf = auditRecords<Verb>('secret_references', 'secret-reference');

/** Audit record of a reference. It belongs to a workspace when the reference is for that one only. */
export function entryOf(
  verb: Verb,
  { id, name }: Pick<SecretReference, 'id' | 'name'>,
  access: WorkspaceAccess,
  changedFields: readonly string[],
  snapshots: Snapshots = {},
): AuditRecord {
  const [workspaceId = null, another] = access.workspaceIds;
  const owner = another === undefined ? workspaceId : null;
  return recordOf(verb, { id, name, workspaceId: owner }, changedFields, snapshots);
}

/** Reads secret references, always within a tenant. Every row has its workspaces and its sealed column. */
@Injectable()
export class SecretReferenceStore {
  /** Whole rows. The workspaces come by a query of their own, since a condition on them would cut the list. */
  private readonly whole: Pick<FindManyOptions<SecretReference>, 'select' | 'relations' | 'relationLoadStrategy'>;

  constructor(@InjectRepository(SecretReference) readonly rows: Repository<SecretReference>) {
    this.whole = {
      select: { ...allColumns(rows.metadata), allowedWorkspaces: true },
      relations: { allowedWorkspaces: true },
      relationLoadStrategy: 'query',
    };
  }

  async list(principal: Principal, query: SecretReferenceListQuery): Promise<[SecretReference[], number]> {
    const filters = filtersOf(query);
    return this.rows.findAndCount({
      ...this.whole,
      where: both(both(visibleWhere(principal), [filters]), searched(query.search, ['name', 'slug', 'description'])),
      ...pageAndOrder(query),
    });
  }

  /**
   * One reference that the caller can see: of its organisation, and usable in its workspace when it has one.
   * @throws GatewayError `not_found`
   */
  async get(principal: Principal, ref: string, manager: EntityManager = this.rows.manager): Promise<SecretReference> {
    const where = visibleWhere(principal).map((visible) => ({ ...refWhere(ref), ...visible }));
    const row = await manager.findOne(SecretReference, { ...this.whole, where });
    if (row === null) throw new GatewayError('not_found');
    return row;
  }

  /** As `get`, in a transaction. Until it ends, the reference can neither be changed nor mapped by another one. */
  async getForChange(manager: EntityManager, principal: Principal, ref: string): Promise<SecretReference> {
    const where = { ...refWhere(ref), organisationId: principal.organisationId };
    await manager.findOne(SecretReference, { select: { id: true }, where, lock: { mode: 'pessimistic_write' } });
    return this.get(principal, ref, manager);
  }

  /** References of an organisation by their ids, for use: whether a workspace may use one is the caller's to ask. */
  async findForUse(organisationId: string, ids: readonly string[]): Promise<SecretReference[]> {
    return ids.length === 0 ? [] : this.rows.find({ ...this.whole, where: { organisationId, id: In(ids) } });
  }

  /** What uses a reference. */
  async mappingsOf({ organisationId, id }: SecretReference, manager = this.rows.manager): Promise<SecretMapping[]> {
    const order = { ownerType: 'ASC', ownerSlug: 'ASC', id: 'ASC' } as const;
    return manager.find(SecretMapping, { where: { organisationId, secretReferenceId: id }, order });
  }
}

/** Either of these: a caller of one workspace sees what is for all of them, and what names its own. */
function visibleWhere({ organisationId, workspaceId }: Principal): FindOptionsWhere<SecretReference>[] {
  return workspaceId === null
    ? [{ organisationId }]
    : [
        { organisationId, allowAllWorkspaces: true },
        { organisationId, allowedWorkspaces: { workspaceId } },
      ];
}

function filtersOf({ manager_type, tags, failing }: SecretReferenceListQuery): FindOptionsWhere<SecretReference> {
  return withoutUndefined({
    managerType: manager_type === undefined ? undefined : readManagerName(manager_type)?.type,
    tags: tags === undefined ? undefined : containing(tags),
    lastError: failing === undefined ? undefined : failing === 'true' ? Not(IsNull()) : IsNull(),
  });
}

/** `tags` is JSON text. A reference without tags has what an empty object asks for. */
function containing(tags: string) {
  // Parsed first: PostgreSQL refuses numbers beyond its own range, which become null here.
  const wanted = JSON.stringify(JSON.parse(tags));
  return Raw((column) => `COALESCE(${column}, '{}') @> CAST(:wanted AS jsonb)`, { wanted });
}
