import { describe, expect, it, jest } from '@jest/globals';
import { DataSource } from 'typeorm';
import { KeyRing, parseMasterKey } from './key-ring.js';
import { countUndecryptable, rewrapColumn } from './rewrap.js';
import type { SealedColumn } from './sealed-column.js';
import { SealError, Sealer } from './sealer.js';

const DATA_SOURCE = new DataSource({ type: 'postgres' });
const PLACE = { organisationId: 'org-1', table: 'virtual_keys', rowId: 'row-1', field: 'sealed_key' };

/** A column of two values. */
const COLUMN: SealedColumn = {
  nameIn: () => 'virtual_keys.sealed_key',
  async *values() {
    for (const primaryKey of ['row-1', 'row-2']) yield { primaryKey, sealed: 'sealed', place: PLACE };
  },
  replace: async () => true,
};

/** A sealer whose every operation fails. */
function failing(failure: Error): Sealer {
  const sealer = new Sealer(new KeyRing(parseMasterKey(Buffer.alloc(32, 1).toString('base64'))));
  const fail = (): never => {
    throw failure;
  };
  jest.spyOn(sealer, 'open').mockImplementation(fail);
  jest.spyOn(sealer, 'rewrap').mockImplementation(fail);
  return sealer;
}

describe('rewrapColumn and countUndecryptable', () => {
  it('count the values that cannot be opened by their reason', async () => {
    const sealer = failing(new SealError('no such key'));
    const reasons = new Map([['a sealed value does not open: no such key', 2]]);
    expect(await countUndecryptable(DATA_SOURCE, sealer, COLUMN)).toEqual(reasons);
    expect(await rewrapColumn(DATA_SOURCE, sealer, COLUMN)).toEqual({ rewrapped: 0, current: 0, refused: reasons });
  });

  it('fail with an error that says nothing about the value', async () => {
    const sealer = failing(new Error('out of memory'));
    await expect(countUndecryptable(DATA_SOURCE, sealer, COLUMN)).rejects.toThrow('out of memory');
    await expect(rewrapColumn(DATA_SOURCE, sealer, COLUMN)).rejects.toThrow('out of memory');
  });
});
