import { describe, expect, it } from '@jest/globals';
import { ListQuery } from '../common/pagination/list.query.js';
import { pageAndOrder } from './list-options.js';

const orderBy = (sort: string): unknown => pageAndOrder(Object.assign(new ListQuery(), { sort })).order;

describe('the order of a list', () => {
  it('reads the index of a time backwards, which PostgreSQL does not do with NULLS LAST', () => {
    expect(orderBy('-created_at')).toEqual({ createdAt: { direction: 'DESC' }, id: { direction: 'DESC' } });
    expect(orderBy('updated_at')).toEqual({ updatedAt: { direction: 'ASC' }, id: { direction: 'ASC' } });
  });

  it('has rows without a value at the end', () => {
    const lastUsed = { direction: 'DESC', nulls: 'LAST' };
    expect(orderBy('-last_used_at')).toEqual({ lastUsedAt: lastUsed, id: { direction: 'DESC' } });
  });
});
