import { beforeEach, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { type RowShape, type RowTable, GroupedInsert } from './grouped-insert.js';

interface Item {
  readonly id: number;
  readonly caller: string;
}

let made: number;

const SHAPE: RowShape<Item> = {
  isAlike: (one, other) => one.caller === other.caller,
  sharedOf: ({ caller }) => {
    made += 1;
    return { caller };
  },
  ownOf: ({ id }) => ({ id }),
};

const TABLE: RowTable = {
  tableName: 'calls',
  columns: ['id', 'caller'].map((databaseName) => ({
    databaseName,
    type: 'text',
    length: '',
    isArray: false,
    default: undefined,
  })),
};

beforeEach(() => {
  made = 0;
});

/** What the database is sent for rows of these callers. */
async function sent(callers: readonly string[]): Promise<readonly unknown[]> {
  let groups: readonly unknown[] = [];
  const query = async (_statement: string, [json]: readonly unknown[]): Promise<void> => {
    groups = JSON.parse(String(json));
  };
  const rows = new GroupedInsert({ query }, TABLE, ['id'], SHAPE);
  await rows.insert(callers.map((caller, id) => rows.prepare({ id, caller })));
  return groups;
}

describe('rows that share values', () => {
  it('sends values that rows share once', async () => {
    expect(await sent(['a', 'b', 'a', 'a', 'b'])).toEqual([
      { caller: 'a', rows: [{ id: 0 }, { id: 2 }, { id: 3 }] },
      { caller: 'b', rows: [{ id: 1 }, { id: 4 }] },
    ]);
    expect(made).toBe(2);
  });

  it('compares a row with the last sixteen groups only', async () => {
    const callers = upTo(17).map(String);
    const groups = await sent([...callers, '1', '0']);
    expect([groups.length, made]).toEqual([17, 18]);
  });

  it('throws for a column that the table lacks', () => {
    const database = { query: () => Promise.resolve() };
    expect(() => new GroupedInsert(database, TABLE, ['id', 'other'], SHAPE)).toThrow('other');
  });

  it('inserts every row with all its own values', async () => {
    const property = fc.asyncProperty(fc.array(fc.nat(40).map(String)), async (callers) => {
      const expected = new Map<string, object[]>();
      for (const [id, caller] of callers.entries()) expected.set(caller, [...(expected.get(caller) ?? []), { id }]);
      expect(await sent(callers)).toEqual([...expected].map(([caller, rows]) => ({ caller, rows })));
    });
    await fc.assert(property);
  });
});

function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_none, index) => index);
}
