import type { FindOptionsWhere, Repository } from 'typeorm';
import { invalidField } from '../common/errors/gateway.error.js';
import { toSkipTake } from '../common/pagination/list.js';
import type { LogListQuery } from '../common/pagination/log-list.query.js';

/** A table whose rows are only ever added. */
interface LogRow {
  readonly id: string;
  readonly createdAt: Date;
}

export interface LogPage<Row> {
  readonly rows: readonly Row[];
  /** Undefined: not counted. */
  readonly total: number | undefined;
  readonly hasMore: boolean;
}

/**
 * One page of a log in the order of time, by its number or after an entry. The latter is found by an index of (tenant, time, id),
 * however far down it is, and rows that were added since do not move it.
 * @param tenant whose rows the caller may see
 * @param filters alternatives
 * @throws GatewayError `validation_failed`
 */
export async function readLogPage<Row extends LogRow>(
  log: Repository<Row>,
  tenant: FindOptionsWhere<Row>,
  filters: FindOptionsWhere<Row>[],
  query: LogListQuery,
): Promise<LogPage<Row>> {
  const { after, include_total: isCounted = after === undefined ? 'true' : 'false' } = query;
  const { skip, take } = toSkipTake(query);
  const isDescending = query.sort.startsWith('-');
  const direction = isDescending ? 'DESC' : 'ASC';
  const found = log.createQueryBuilder('entry').where(filters);
  const total = isCounted === 'true' ? await found.getCount() : undefined;
  if (after !== undefined) {
    if (skip > 0) throw invalidField('current_page', 'must not be used with after');
    const isKnown = await log
      .createQueryBuilder('entry')
      .where(tenant)
      .andWhere('entry.id = :after', { after })
      .getExists();
    if (!isKnown) throw invalidField('after', 'must be the id of an entry of this list');
    // By the row itself: a date of JavaScript has fewer digits than the column.
    const cursor = `(SELECT created_at, id FROM "${log.metadata.tableName}" WHERE id = :after)`;
    found.andWhere(`(entry.created_at, entry.id) ${isDescending ? '<' : '>'} ${cursor}`, { after });
  }
  const rows = await found
    .orderBy('entry.createdAt', direction)
    .addOrderBy('entry.id', direction)
    .offset(skip)
    .limit(take + 1)
    .getMany();
  return { rows: rows.slice(0, take), total, hasMore: rows.length > take };
}
