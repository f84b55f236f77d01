import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type DeepPartial, In, IsNull, Raw, type Repository } from 'typeorm';
import type { Principal } from '../../access/principal.js';
import { auditRecords } from '../../audit/audit-record.js';
import { AuditService } from '../../audit/audit.service.js';
import { withoutUndefined } from '../../common/without-undefined.js';
import { both, pageAndOrder, searched } from '../../database/list-options.js';
import type { PriceListQuery } from './dto/price-list.query.js';
import { PriceRow } from './price.entity.js';
import { toPriceResponse } from './price.response.js';
import { fromRow } from './visible-price.js';
import { spellingsOf, unitOf } from './price.types.js';

const entryOf = auditRecords<'create'>('prices', 'price');

/** Reads and adds price rows. An organisation sees its own and the operator's rows. No row is ever changed. */
@Injectable()
export class PriceStore {
  constructor(
    @InjectRepository(PriceRow) private readonly rows: Repository<PriceRow>,
    private readonly audit: AuditService,
  ) {}

  async create(principal: Principal, fields: DeepPartial<PriceRow>, named: readonly string[]): Promise<PriceRow> {
    return this.rows.manager.transaction(async (manager) => {
      const row = await manager.save(manager.create(PriceRow, fields));
      const resource = { id: row.id, workspaceId: null, name: `${row.provider} ${row.model}` };
      const snapshots = { after: toPriceResponse(fromRow(row)) };
      await this.audit.record(manager, principal, entryOf('create', resource, named, snapshots));
      return row;
    });
  }

  /** A page of prices, the organisation's own first, and their total number. */
  async list(organisationId: string, query: PriceListQuery): Promise<[PriceRow[], number]> {
    const { provider, model, unit } = query;
    const inAnyCase = model === undefined ? undefined : Raw((column) => `LOWER(${column}) = LOWER(:model)`, { model });
    const units = unit === undefined ? undefined : In(spellingsOf(unitOf(unit)));
    const fields = withoutUndefined({ provider, model: inAnyCase, unit: units });
    const owned = visibleTo(organisationId).map((owner) => ({ ...fields, ...owner }));
    const { order, ...page } = pageAndOrder(query);
    return this.rows.findAndCount({
      where: both(owned, searched(query.search, ['provider', 'model', 'source'])),
      order: { organisationId: { direction: 'ASC', nulls: 'LAST' }, ...order },
      ...page,
    });
  }

  async find(organisationId: string, id: string): Promise<PriceRow | null> {
    return this.rows.findOne({ where: visibleTo(organisationId).map((owner) => ({ id, ...owner })) });
  }

  /** All prices of the organisation and of the operator. Newer ones, which take precedence, come later. */
  async all(organisationId: string): Promise<PriceRow[]> {
    return this.rows.find({
      where: visibleTo(organisationId),
      order: { effectiveFrom: 'ASC', createdAt: 'ASC', id: 'ASC' },
    });
  }
}

function visibleTo(organisationId: string) {
  return [{ organisationId }, { organisationId: IsNull() }];
}
