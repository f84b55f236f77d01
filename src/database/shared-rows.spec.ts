import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { type RowShape, sharedRows } from './shared-rows.js';

interface Item {
  readonly id: number;
  readonly caller: string;
}

const SHAPE: RowShape<Item> = {
  isAlike: (one, other) => one.caller === other.caller,
  sharedOf: ({ caller }) => ({ caller }),
  ownOf: ({ id }, place) => ({ place, id }),
};

const of = (callers: readonly string[]): readonly Item[] => callers.map((caller, id) => ({ id, caller }));

/** As the database joins them. */
function joined([shared, own]: [string, string]): readonly unknown[] {
  const parts: readonly object[] = JSON.parse(shared);
  const rows: readonly { readonly place: number; readonly id: number }[] = JSON.parse(own);
  return rows.map(({ place, id }) => ({ id, ...parts[place - 1] }));
}

describe('rows that share what they have in common', () => {
  it('send it once', () => {
    const [shared, own] = sharedRows(of(['a', 'b', 'a', 'a', 'b']), SHAPE);
    expect(JSON.parse(shared)).toEqual([{ caller: 'a' }, { caller: 'b' }]);
    expect(JSON.parse(own)).toEqual([1, 2, 1, 1, 2].map((place, id) => ({ place, id })));
  });

  it('look no further back than to the last sixteen', () => {
    const callers = upTo(17).map(String);
    const [shared] = sharedRows(of([...callers, '1', '0']), SHAPE);
    expect(JSON.parse(shared)).toEqual([...callers, '0'].map((caller) => ({ caller })));
  });

  it('are each what they were', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(40).map(String)), (callers) => {
        expect(joined(sharedRows(of(callers), SHAPE))).toEqual(of(callers));
      }),
    );
  });
});

function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_none, index) => index);
}
