import type { EntityManager, EntityMetadata } from 'typeorm';
import { meantRow, onlyRow } from '../access/only-row.js';
import type { Principal } from '../access/principal.js';
import { refWhere, tenantWhere } from '../access/tenant-where.js';
import { toSkipTake } from '../common/pagination/list.js';
import type { PageQuery } from '../common/pagination/page.query.js';
import { isSameValue } from '../common/same-value.js';
import { allColumns } from '../database/all-columns.js';
import { insertRow, updateRow } from '../database/write-row.js';
import type { SecretMappingDto } from './dto/secret-mapping.dto.js';
import type { MappedField, SecretOwnerType } from './secret-mapping.entity.js';
import type { SecretMappingsService, SecretOwner } from './secret-mappings.service.js';

/** What all resources have whose fields may take their values from secret references. */
export interface MappedRow {
  readonly id: string;
  readonly organisationId: string;
  readonly workspaceId: string | null;
  readonly slug: string;
  secretMappings: readonly MappedField[];
}

type Tenant = ReturnType<typeof tenantWhere>;

interface PageOptions {
  readonly select: object;
  readonly where: Tenant;
  readonly order: { readonly createdAt: 'DESC'; readonly id: 'DESC' };
  readonly skip: number;
  readonly take: number;
}

interface ReferenceOptions {
  readonly select: object;
  readonly where: Tenant & ReturnType<typeof refWhere>;
  readonly order: { readonly workspaceId: { readonly direction: 'ASC'; readonly nulls: 'FIRST' } };
  readonly take: number;
  readonly lock?: RowLock | undefined;
}

interface RowLock {
  readonly mode: 'pessimistic_write';
}

const LOCK: RowLock = { mode: 'pessimistic_write' };
const SHARED_FIRST: ReferenceOptions['order'] = { workspaceId: { direction: 'ASC', nulls: 'FIRST' } };

/** As much of TypeORM's `Repository<Row>` as is used here: for a type that is not known yet its own cannot be called. */
interface Rows<Row> {
  readonly manager: EntityManager;
  readonly metadata: EntityMetadata;
  delete(where: { readonly id: string; readonly organisationId: string }): Promise<unknown>;
  find(options: ReferenceOptions): Promise<Row[]>;
  findAndCount(options: PageOptions): Promise<[Row[], number]>;
}

interface Resource<Row> {
  readonly type: SecretOwnerType;
  /** The rows within this transaction. */
  readonly rowsOf: (manager: EntityManager) => Rows<Row>;
  /** What callers of a whole organisation are told of a slug that several workspaces have. */
  readonly ambiguous: string;
}

/** Reads and writes the rows of one resource, always within a tenant, each together with its secret mappings. */
export abstract class MappedResourceStore<Row extends MappedRow> {
  protected constructor(
    readonly manager: EntityManager,
    private readonly mappings: SecretMappingsService,
    private readonly resource: Resource<Row>,
  ) {}

  /** @throws GatewayError `validation_failed` for secret references that the resource may not use */
  async insert(manager: EntityManager, row: Row, mappings: readonly SecretMappingDto[]): Promise<Row> {
    await insertRow(manager, row);
    await this.writeMappings(manager, row, await this.mappings.resolve(manager, this.ownerOf(row), mappings));
    return row;
  }

  /** Throws as `insert`. Without mappings, they stay what they are. Returns the row itself if nothing changes. */
  async update(
    manager: EntityManager,
    row: Row,
    changes: Partial<Row>,
    mappings?: readonly SecretMappingDto[],
  ): Promise<Row> {
    if (mappings === undefined) return updateRow(manager, row, changes);
    const fields = await this.mappings.resolve(manager, this.ownerOf(row), mappings);
    const areOther = !isSameValue(fields, row.secretMappings);
    const updated = await updateRow(manager, row, changes, areOther);
    if (areOther) await this.writeMappings(manager, updated, fields);
    return updated;
  }

  private async writeMappings(manager: EntityManager, row: Row, fields: readonly MappedField[]): Promise<void> {
    await this.mappings.replace(manager, this.ownerOf(row), fields);
    row.secretMappings = fields;
  }

  async remove(manager: EntityManager, row: Row): Promise<void> {
    await this.mappings.remove(manager, this.ownerOf(row));
    await this.resource.rowsOf(manager).delete({ id: row.id, organisationId: row.organisationId });
  }

  async list(principal: Principal, page: PageQuery): Promise<[Row[], number]> {
    const rows = this.resource.rowsOf(this.manager);
    return rows.findAndCount({
      select: allColumns(rows.metadata),
      where: tenantWhere(principal),
      order: { createdAt: 'DESC', id: 'DESC' },
      ...toSkipTake(page),
    });
  }

  /**
   * One row that the caller manages.
   * @throws GatewayError `not_found`, or `conflict` when a slug names rows of several workspaces and none of the organisation
   */
  async get(principal: Principal, ref: string): Promise<Row> {
    return meantRow(await this.find(this.manager, principal, ref), this.resource.ambiguous);
  }

  /** The same in a transaction, until whose end nobody else changes the row. */
  async getForChange(manager: EntityManager, principal: Principal, ref: string): Promise<Row> {
    return this.locked(manager, principal, ref, meantRow);
  }

  /** The same for a deletion, for which a slug must name one row: sent twice, it would delete first one and then another. */
  async getForDelete(manager: EntityManager, principal: Principal, ref: string): Promise<Row> {
    return this.locked(manager, principal, ref, onlyRow);
  }

  private async locked(
    manager: EntityManager,
    principal: Principal,
    ref: string,
    choose: (rows: readonly Row[], ambiguous: string) => Row,
  ): Promise<Row> {
    const { id } = choose(await this.find(manager, principal, ref, LOCK), this.resource.ambiguous);
    // Read after the lock: of what another change had just written, that statement may have seen the row alone.
    return choose(await this.find(manager, principal, id), this.resource.ambiguous);
  }

  /** At most two, the organisation's own first. */
  private find(manager: EntityManager, principal: Principal, ref: string, lock?: RowLock): Promise<Row[]> {
    const rows = this.resource.rowsOf(manager);
    const where = { ...refWhere(ref), ...tenantWhere(principal) };
    return rows.find({ select: allColumns(rows.metadata), where, order: SHARED_FIRST, take: 2, lock });
  }

  private ownerOf({ id, slug, organisationId, workspaceId }: Row): SecretOwner {
    return { type: this.resource.type, id, slug, organisationId, workspaceId };
  }
}
