import type { EntityManager, EntityMetadata } from 'typeorm';
import type { Principal } from '../../access/principal.js';
import { refWhere, tenantWhere, meantRow, onlyRow } from '../../access/tenant-where.js';
import type { Actor, AuditService } from '../../audit/audit.service.js';
import type { Snapshots } from '../../audit/audit-changes.js';
import { auditRecords, namedFields } from '../../audit/audit-record.js';
import type { ListQuery } from '../../common/pagination/list.query.js';
import { isSameValue } from '../../common/same-value.js';
import { both, type ListOrder, pageAndOrder, searched } from '../../database/list-options.js';
import { allColumns, insertRow, updateRow } from '../../database/rows.js';
import type { SecretMappingDto } from '../dto/secret-mapping.dto.js';
import type { MappedField, SecretOwnerType } from '../secret-mapping.entity.js';
import type { SecretDestination } from '../secret-destination.js';
import { replaceMappings, resolveMappings, type SecretOwner } from './secret-mappings.js';

/** The columns of every resource whose fields can take their values from secret references. */
export interface MappedRow {
  readonly id: string;
  readonly organisationId: string;
  readonly workspaceId: string | null;
  readonly slug: string;
  readonly name: string;
  secretMappings: readonly MappedField[];
}

type Tenant = ReturnType<typeof tenantWhere>;

interface PageOptions {
  readonly select: object;
  readonly where: (Tenant & object)[];
  readonly order: ListOrder;
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

/** The columns that `search` looks into. */
const SEARCHED = ['name', 'slug', 'description'] as const;
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

/** The part of a request's body that the store reads itself. */
interface MappedBody {
  readonly secret_mappings?: readonly SecretMappingDto[] | null | undefined;
}

/** A row as the audit log compares it: see `Snapshots`. */
type Show<Row> = (row: Row) => object;

interface Resource<Row> {
  readonly type: SecretOwnerType;
  /** Before the verb in the actions of the audit log: `virtual_keys` in `virtual_keys.create`. */
  readonly area: string;
  /** The rows within this transaction. */
  readonly rowsOf: (manager: EntityManager) => Rows<Row>;
  /** Error message for a slug that several workspaces have. */
  readonly ambiguous: string;
  /** Where the value of a mapped field of a row is sent. */
  readonly destinationOf: (row: Row, mapped: ReadonlySet<string>, field: string) => SecretDestination;
}

/**
 * Reads and writes the rows of one resource, always within a tenant, each together with its secret mappings. Every change
 * is written with its entry of the audit log.
 */
export abstract class MappedResourceStore<Row extends MappedRow> {
  protected constructor(
    readonly manager: EntityManager,
    private readonly audit: AuditService,
    private readonly resource: Resource<Row>,
  ) {}

  /** @throws GatewayError `validation_failed` for secret references that the resource may not use */
  async insert(manager: EntityManager, actor: Actor, row: Row, body: MappedBody, show: Show<Row>): Promise<Row> {
    await insertRow(manager, row);
    const owner = this.ownerOf(row);
    row.secretMappings = await this.resolve(manager, row, body.secret_mappings ?? []);
    await replaceMappings(manager, owner, row.secretMappings);
    await this.record(manager, actor, 'create', row, namedFields(body), { after: show(row) });
    return row;
  }

  /**
   * Changes one row, which is locked meanwhile. Without `secret_mappings` in the body, the mappings stay as they are. Throws
   * as `insert` and `get`.
   * @param changesOf the columns that change
   */
  async change(
    principal: Principal,
    ref: string,
    body: MappedBody,
    changesOf: (row: Row) => Partial<Row>,
    show: Show<Row>,
  ): Promise<Row> {
    return this.manager.transaction(async (manager) => {
      const row = await this.getForChange(manager, principal, ref);
      const owner = this.ownerOf(row);
      const changes = changesOf(row);
      const mappings =
        body.secret_mappings === undefined
          ? row.secretMappings
          : await this.resolve(manager, { ...row, ...changes }, body.secret_mappings ?? []);
      const areOther = !isSameValue(mappings, row.secretMappings);
      const changed = await updateRow(manager, row, changes, areOther);
      if (areOther) {
        await replaceMappings(manager, owner, mappings);
        changed.secretMappings = mappings;
      }
      if (changed !== row) {
        const snapshots = { before: show(row), after: show(changed) };
        await this.record(manager, principal, 'update', changed, namedFields(body), snapshots);
      }
      return changed;
    });
  }

  /** @throws GatewayError as `get`, and `conflict` when a slug names several rows: sent twice, it would delete one after the other */
  async delete(principal: Principal, ref: string, show: Show<Row>): Promise<void> {
    await this.manager.transaction(async (manager) => {
      const row = await this.locked(manager, principal, ref, onlyRow);
      await replaceMappings(manager, this.ownerOf(row), []);
      await this.resource.rowsOf(manager).delete({ id: row.id, organisationId: row.organisationId });
      await this.record(manager, principal, 'delete', row, [], { before: show(row) });
    });
  }

  /** Writes an entry of the audit log. */
  async record(
    manager: EntityManager,
    actor: Actor,
    verb: 'create' | 'update' | 'delete' | 'test',
    row: Row,
    changedFields: readonly string[],
    snapshots: Snapshots = {},
  ): Promise<void> {
    const { area, type } = this.resource;
    const entry = auditRecords<typeof verb>(area, type)(verb, row, changedFields, snapshots);
    await this.audit.record(manager, actor, entry);
  }

  /** @param filter further columns that the rows must have */
  async list(principal: Principal, query: ListQuery, filter: object): Promise<[Row[], number]> {
    const rows = this.resource.rowsOf(this.manager);
    const where = both([{ ...filter, ...tenantWhere(principal) }], searched(query.search, SEARCHED));
    return rows.findAndCount({ select: allColumns(rows.metadata), where, ...pageAndOrder(query) });
  }

  /**
   * One row that the caller manages.
   * @throws GatewayError `not_found`, or `conflict` when a slug names rows of several workspaces and none of the organisation
   */
  async get(principal: Principal, ref: string): Promise<Row> {
    return meantRow(await this.find(this.manager, principal, ref), this.resource.ambiguous);
  }

  /** As `get`, in a transaction. The row is locked until the transaction ends. */
  async getForChange(manager: EntityManager, principal: Principal, ref: string): Promise<Row> {
    return this.locked(manager, principal, ref, meantRow);
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

  private resolve(
    manager: EntityManager,
    row: Row,
    wanted: readonly SecretMappingDto[],
  ): Promise<readonly MappedField[]> {
    const mapped = new Set(wanted.map((mapping) => mapping.target_field));
    return resolveMappings(manager, this.ownerOf(row), wanted, (field) =>
      this.resource.destinationOf(row, mapped, field),
    );
  }

  private ownerOf({ id, slug, organisationId, workspaceId }: Row): SecretOwner {
    return { type: this.resource.type, id, slug, organisationId, workspaceId };
  }
}
