import { describe, expect, it } from '@jest/globals';
import type { Decision } from './decisions.js';
import { genaiList, listedModel, modelsDevList } from './__fixtures__/lists.js';
import { type Compared, compareProvider } from './compare.js';
import { readGenaiPrices } from './genai-prices.js';
import { readModelsDev } from './models-dev.js';

function compare(cost: object, prices: object, decisions: readonly Decision[] = [], id = 'm'): Compared {
  const one = readModelsDev(modelsDevList({ [id]: listedModel(cost) }), 'maker');
  const other = readGenaiPrices(genaiList({ [id]: prices }), 'maker', '2026-09-23');
  return compareProvider('openai', one, other, decisions);
}

function rowsOf({ agreed }: Compared): readonly string[] {
  return agreed.flatMap(({ prices }) =>
    prices.map(({ unit, minInputTokens, sources }) => [unit, minInputTokens, ...sources].join(' ')),
  );
}

const SAME = { input: 1, output: 2 };
const SAME_TOO = { input_mtok: 1, output_mtok: 2 };

describe('compareProvider', () => {
  it('takes a model over in which all prices agree', () => {
    const found = compare(SAME, SAME_TOO);
    expect(rowsOf(found)).toEqual(['input 0 models.dev genai-prices', 'output 0 models.dev genai-prices']);
    expect(found.differences).toEqual([]);
  });

  it('leaves a model out in which one price differs, and shows both', () => {
    const found = compare(SAME, { ...SAME_TOO, output_mtok: 3 });
    expect(found.agreed).toEqual([]);
    expect(found.differences).toEqual([
      {
        provider: 'openai',
        model: 'm',
        price: 'output standard 0',
        modelsDev: 2n * 10n ** 12n,
        genaiPrices: 3n * 10n ** 12n,
        what: 'differs',
      },
    ]);
  });

  it.each([
    [{ ...SAME, cache_read: 1 }, SAME_TOO, 'only in models.dev'],
    [SAME, { ...SAME_TOO, web_searches_kcount: 1 }, 'only in genai-prices'],
    [{}, {}, 'without a price of tokens'],
    [SAME, { ...SAME_TOO, output_reasoning_mtok: 2 }, 'not understood'],
  ])('leaves out %j beside %j, which is %s', (cost, prices, what) => {
    const found = compare(cost, prices);
    expect(found.agreed).toEqual([]);
    expect(found.differences).toMatchObject([{ what }]);
  });

  it('takes a model over in spite of a price that is not of tokens, and names it', () => {
    const found = compare(SAME, { ...SAME_TOO, other_searches_kcount: 2 });
    expect(found.agreed).toHaveLength(1);
    expect(found.differences).toMatchObject([{ what: 'not understood', detail: 'other_searches_kcount' }]);
  });

  it.each([
    ['models.dev', 'output 0 models.dev'],
    ['genai-prices', 'output 0 genai-prices'],
    ['neither', undefined],
  ] as const)('takes a price from %s by a decision', (take, row) => {
    const found = compare(SAME, { ...SAME_TOO, output_mtok: 3 }, [{ unit: 'output', take, because: 'so' }]);
    expect(rowsOf(found)[1]).toBe(row);
    expect(found.agreed).toHaveLength(1);
  });

  it('leaves out by a decision what its source does not have', () => {
    const decisions: readonly Decision[] = [
      { unit: 'cache_read', whereAlone: true, take: 'genai-prices', because: 'so' },
    ];
    expect(rowsOf(compare({ ...SAME, cache_read: 1 }, SAME_TOO, decisions))).toHaveLength(2);
  });

  it.each([
    { unit: 'output', whereAlone: true },
    { unit: 'output', tiersOnly: true },
    { unit: 'output', provider: 'anthropic' },
    { unit: 'output', model: 'other' },
    { unit: 'output', mode: 'priority' },
    { unit: 'input' },
  ] as const)('does not apply a decision of %j to a difference of other prices', (fits) => {
    const decisions: readonly Decision[] = [{ ...fits, take: 'models.dev', because: 'so' }];
    expect(compare(SAME, { ...SAME_TOO, output_mtok: 3 }, decisions).agreed).toEqual([]);
  });

  it.each([
    [200_000, 200_001],
    [199_999, 200_000],
  ])('takes the tier above %d for the one of 200,000 tokens', (start, first) => {
    const tiered = { ...SAME, tiers: [{ tier: { size: 200_000 }, input: 3 }] };
    const found = compare(tiered, { ...SAME_TOO, input_mtok: { base: 1, tiers: [{ start, price: 3 }] } });
    expect(found.agreed[0]?.prices.map(({ minInputTokens }) => minInputTokens)).toContain(first);
  });

  it('ignores what a list wants for the output of embeddings', () => {
    expect(rowsOf(compare({ input: 1 }, SAME_TOO, [], 'm-embed'))).toEqual(['input 0 models.dev genai-prices']);
  });

  it('names the models that only one of the lists has', () => {
    const one = readModelsDev(modelsDevList({ a: listedModel(SAME) }), 'maker');
    const other = readGenaiPrices(genaiList({ b: SAME_TOO }), 'maker', '2026-09-23');
    expect(compareProvider('openai', one, other).differences.map(({ model, what }) => `${model} ${what}`)).toEqual([
      'a only in models.dev',
      'b only in genai-prices',
    ]);
  });
});
