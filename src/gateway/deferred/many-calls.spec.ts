import { describe, expect, it } from '@jest/globals';
import type { Price, PriceMode } from '../../usage/prices/price.types.js';
import type { QuantityUnit } from '../../usage/units.js';
import { boundOfCalls, costOfCalls, isSumEnough } from './many-calls.js';

const ATTO_PER_NANO = 1_000_000_000n;

function price(unit: QuantityUnit, nano: bigint, minInputTokens = 0, mode: PriceMode = 'standard'): Price {
  const id = `${unit} ${mode} ${minInputTokens}`;
  const row = { id, provider: 'openai', model: 'm', unit, mode, minInputTokens, effectiveFrom: new Date(0) };
  return { ...row, price: nano * ATTO_PER_NANO };
}

const FLAT = [price('input', 10n), price('output', 40n), price('input', 5n, 0, 'batch')];
const TIERED = [...FLAT, price('input', 100n, 1_000)];

describe('the cost of many calls', () => {
  it('has the tier of each call, not of their sum', () => {
    const calls = [{ input: 600 }, { input: 600 }, { input: 1_000 }];
    const { figures } = costOfCalls({ unit: 'input', mode: 'standard', calls }, TIERED);
    expect(figures).toEqual({ costNano: 1_200n * 10n + 1_000n * 100n, quantities: { input: 2_200n } });
  });

  it('has the prices of its mode, or else the standard ones', () => {
    const calls = [{ input: 100, output: 10 }];
    const { figures, rate } = costOfCalls({ unit: 'input', mode: 'batch', calls }, FLAT);
    expect(figures.costNano).toBe(100n * 5n + 10n * 40n);
    expect(rate).toMatchObject({ mode: 'batch', tier: 0 });
  });

  it('is rounded once', () => {
    const calls = Array.from({ length: 1_000 }, () => ({ input: 1 }));
    const prices = [{ ...price('input', 0n), price: 400_000_000n }];
    expect(boundOfCalls({ unit: 'input', mode: 'batch', calls }, prices).figures.costNano).toBe(400n);
  });

  it('is the highest figure for calls that may write more than can be true', () => {
    const calls = Array.from({ length: 3 }, () => ({ input: 1, output: Number.MAX_SAFE_INTEGER }));
    const { figures } = boundOfCalls({ unit: 'input', mode: 'standard', calls }, FLAT);
    expect(figures).toEqual({ costNano: 10n ** 15n, quantities: { input: 3n, output: 10n ** 14n } });
  });

  it('counts each call where calls have a price', () => {
    const calls = [{ input: 1 }, { input: 1 }];
    const { figures } = costOfCalls({ unit: 'input', mode: 'batch', calls }, [price('request', 7n)]);
    expect(figures).toEqual({ costNano: 14n, quantities: { input: 2n, request: 2n } });
  });

  it('is not none where a report names what was not used, or what has no price besides its tokens', () => {
    const calls = [{ input: 5, output: 0, web_search: 1 }];
    const { figures } = costOfCalls({ unit: 'input', mode: 'standard', calls }, [price('input', 10n)]);
    expect(figures.costNano).toBe(50n);
  });

  it('is none where a unit of a call has no price', () => {
    const bound = boundOfCalls({ unit: 'output', mode: 'batch', calls: [{ input: 1, output: 1 }] }, [
      price('input', 10n),
    ]);
    expect(bound).toMatchObject({ isPriced: false, figures: { costNano: 0n } });
  });

  it.each([
    [FLAT, true],
    [TIERED, false],
    [[price('request', 1n)], false],
    [[], true],
  ])('follows from the sum of the calls where no price depends on a call', (prices, expected) => {
    expect(isSumEnough(prices)).toBe(expected);
  });
});
