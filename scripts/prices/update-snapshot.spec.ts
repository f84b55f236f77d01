import { describe, expect, it } from '@jest/globals';
import { formatModelRows, parseModelRows } from '../../src/usage/snapshot/model-rows.js';
import { formatPriceRows, parsePriceRows } from '../../src/usage/snapshot/price-rows.js';
import { genaiList, listedModel, modelsDevList } from './__fixtures__/lists.js';
import { formatDifferences } from './report.js';
import { type Snapshot, type Updated, updateSnapshot } from './update-snapshot.js';

const EMPTY: Snapshot = { prices: [], models: [] };
const PROVIDERS = [{ slug: 'openai', modelsDev: 'maker', genaiPrices: 'maker' }] as const;

type Prices = Readonly<Record<string, number>>;

/** Both lists with these prices of `m`, and with `n` at 1. */
function update(known: Snapshot, day: string, { input = 1, ...tiers }: Prices): Updated {
  const [[size, price] = []] = Object.entries(tiers);
  const cost = size === undefined ? { input } : { input, tiers: [{ tier: { size: Number(size) }, input: price }] };
  const tiered = size === undefined ? input : { base: input, tiers: [{ start: Number(size) - 1, price }] };
  const modelsDev = modelsDevList({ m: listedModel(cost), n: listedModel({ input: 1 }) });
  const genaiPrices = genaiList({ m: { input_mtok: tiered }, n: { input_mtok: 1 } });
  return updateSnapshot(known, { modelsDev, genaiPrices, day }, PROVIDERS);
}

function rowsOf({ snapshot }: Updated): readonly string[] {
  return formatPriceRows(snapshot.prices)
    .split('\n')
    .filter((line) => line.includes(',m,'))
    .map((line) => line.split(',').slice(5, 9).join(' '));
}

describe('updateSnapshot', () => {
  it('writes tables that the gateway reads again', () => {
    const { snapshot } = update(EMPTY, '2026-09-23', { input: 0.15 });
    expect(formatPriceRows(snapshot.prices).split('\n')[1]?.slice(37)).toBe(
      'openai,m,input,standard,0,0.00000015,2026-09-23,,models.dev and genai-prices,2026-09-23',
    );
    expect(parsePriceRows(formatPriceRows(snapshot.prices))).toEqual(snapshot.prices);
    expect(parseModelRows(formatModelRows(snapshot.models))).toEqual(snapshot.models);
  });

  it('changes nothing when it is repeated, also on a later day', () => {
    const { snapshot } = update(EMPTY, '2026-09-23', { input: 1, 200: 2 });
    expect(update(snapshot, '2026-10-01', { input: 1, 200: 2 }).snapshot.prices).toEqual(snapshot.prices);
  });

  it('adds a row for another price, and keeps the one before', () => {
    const { snapshot } = update(EMPTY, '2026-09-23', { input: 1 });
    const later = update(snapshot, '2026-10-01', { input: 3 });
    expect(rowsOf(later)).toEqual(['0 0.000001 2026-09-23 ', '0 0.000003 2026-10-01 ']);
    expect(later.snapshot.prices).toEqual(expect.arrayContaining([...snapshot.prices]));
  });

  it('replaces a row of the same day', () => {
    const { snapshot } = update(EMPTY, '2026-09-23', { input: 1 });
    expect(rowsOf(update(snapshot, '2026-09-23', { input: 3 }))).toEqual(['0 0.000003 2026-09-23 ']);
  });

  it('ends a tier that is gone', () => {
    const { snapshot } = update(EMPTY, '2026-09-23', { input: 1, 200: 2 });
    expect(rowsOf(update(snapshot, '2026-10-01', { input: 1 }))).toEqual([
      '0 0.000001 2026-09-23 ',
      '200 0.000002 2026-09-23 2026-10-01',
    ]);
  });

  it('keeps the prices of a model on which the lists no longer agree, and reports it', () => {
    const { snapshot } = update(EMPTY, '2026-09-23', { input: 1 });
    const modelsDev = modelsDevList({ m: listedModel({ input: 1 }), n: listedModel({ input: 1 }) });
    const genaiPrices = genaiList({ m: { input_mtok: 7 }, n: { input_mtok: 1 } });
    const later = updateSnapshot(snapshot, { modelsDev, genaiPrices, day: '2026-10-01' }, PROVIDERS);
    expect(later.snapshot.prices).toEqual(snapshot.prices);
    expect(formatDifferences(later.differences)).toContain('openai,m,input standard 0,differs,0.000001,0.000007');
    expect(later.lines).toEqual([
      'openai: 1 models with 1 prices, 1 differ, 0 not understood, 0 only in models.dev, 0 only in genai-prices',
    ]);
  });

  it.each(['23.09.2026', ''])('refuses the day "%s"', (day) => {
    expect(() => update(EMPTY, day, {})).toThrow('like 2026-09-23');
  });

  it('refuses lists without any model on which they agree, where there were some', () => {
    const { snapshot } = update(EMPTY, '2026-09-23', {});
    const sources = { modelsDev: modelsDevList({}), genaiPrices: genaiList({}), day: '2026-10-01' };
    expect(() => updateSnapshot(snapshot, sources, PROVIDERS)).toThrow('openai has prices of 0 models, and had 2');
  });
});
