import { describe, expect, it } from '@jest/globals';
import { atRegions } from '../../upstream/providers/vertex/model-names.js';
import { modelFacts } from '../models/model-catalogue.js';
import { readSnapshotPrices } from '../snapshot/snapshot.js';
import { bundledPrices } from './bundled-prices.js';
import { costOf, pricesThatApply } from './cost.js';
import type { Price, PriceMode } from './price.types.js';
import { bundledVisible } from './visible-price.js';
import { PriceBook } from './price-catalogue.js';

const AT = new Date('2026-11-21T00:00:00Z');
const book = new PriceBook([bundledVisible()]);
const NANO = 1_000_000_000n;

const HOSTS = /^(?:https:|models\.dev|genai-prices)/;

describe('the bundled prices', () => {
  it('name their source, and the day on which it was read', () => {
    for (const { provider, readOn, source, price } of bundledPrices()) {
      expect(readOn).toMatch(/^20\d\d-[01]\d-[0-3]\d$/);
      if (provider === 'local') continue;
      expect(source).toMatch(HOSTS);
      expect(price).toBeGreaterThan(0n);
    }
  });

  it('have unique ids, and one row for each model, unit, mode, tier and day', () => {
    const prices = bundledPrices();
    expect(new Set(prices.map(({ id }) => id)).size).toBe(prices.length);
    const keys = prices.map(({ provider, model, unit, mode, minInputTokens, effectiveFrom }) =>
      [provider, model.toLowerCase(), unit, mode, minInputTokens, effectiveFrom.getTime()].join(' '),
    );
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('of a model of the snapshot come with what it can read and write, and price all that a call uses', () => {
    const models = new Map(readSnapshotPrices().map((row) => [`${row.provider} ${row.model}`, row] as const));
    expect(models.size).toBeGreaterThan(200);
    for (const [name, { provider, model }] of models) {
      const facts = modelFacts(provider, model);
      expect({ name, isKnown: (facts?.contextWindow ?? 0) > 0 }).toEqual({ name, isKnown: true });
      const standard = book.pricesFor(provider, model, AT).filter(({ mode, minInputTokens }) => {
        return mode === 'standard' && minInputTokens === 0;
      });
      const units = standard.map(({ unit }) => unit);
      expect({ name, units }).toEqual({ name, units: expect.arrayContaining(['input']) });
      if (facts?.maxOutput !== 0) expect({ name, units }).toEqual({ name, units: expect.arrayContaining(['output']) });
    }
  });

  it.each([
    ['cohere', 'rerank-v3.5', { search_unit: 1_000n }, 2n * NANO],
    ['cohere', 'rerank-v4.0-pro', { search_unit: 1_000n }, (5n * NANO) / 2n],
    ['cohere', 'rerank-v5.0-fast', { input: 1_000_000n }, NANO / 50n],
    ['voyage', 'rerank-2.5', { input: 1_000_000n }, NANO / 20n],
    ['voyage', 'rerank-2.5-lite', { input: 1_000_000n }, NANO / 50n],
    ['jina', 'jina-reranker-v3', { input: 1_000_000n }, NANO / 20n],
    ['bedrock', 'arn:aws:bedrock:eu-central-1::foundation-model/amazon.rerank-v1:0', { search_unit: 1_000n }, NANO],
    ['bedrock', 'cohere.rerank-v3-5:0', { search_unit: 1_000n }, 2n * NANO],
    ['azure-ai', 'Cohere-rerank-v3.5', { search_unit: 1_000n }, 2n * NANO],
    ['azure-ai', 'cohere.Cohere-rerank-v4.0-pro', { search_unit: 1_000n }, (5n * NANO) / 2n],
    ['local', 'bm25', { request: 5n }, 0n],
    ['openai', 'text-embedding-3-small', { input: 1_000_000n }, NANO / 50n],
  ])('bundles a price for %s %s', (provider, model, quantities, cost) => {
    const prices = book.pricesFor(provider, model, AT);
    expect(prices).toHaveLength(1);
    expect(costOf(quantities, prices)).toBe(cost);
  });

  it.each([
    ['pinecone', 'bge-reranker-v2-m3'],
    ['jina', 'jina-reranker-v2-base-multilingual'],
    ['azure-ai', 'our-own-deployment'],
    ['bedrock', 'arn:aws-cn:bedrock:cn-north-1::foundation-model/cohere.rerank-v3-5:0'],
    ['bedrock', 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc'],
    ['openai', 'gpt-5-tuned'],
    ['openai', 'gpt-4o-2024-13-45'],
    ['cohere', 'rerank-v3.5-tuned'],
  ])('bundles no price for %s %s', (provider, model) => {
    expect(book.pricesFor(provider, model, AT)).toEqual([]);
  });

  it('bundles prices of chats by unit, tier and mode, also for versions of a model', () => {
    for (const model of ['gpt-5.4', 'GPT-5.4', 'gpt-5.4-2026-03-05']) {
      const prices = book.pricesFor('openai', model, AT);
      const find = (mode: PriceMode, input: bigint): readonly Price[] => pricesThatApply(prices, mode, { input });
      const million = { input: 1_000_000n };
      expect(costOf(million, find('standard', 1_000n))).toBe((5n * NANO) / 2n);
      expect(costOf(million, find('standard', 272_000n))).toBe(5n * NANO);
      expect(costOf(million, find('priority', 1_000n))).toBe(5n * NANO);
      expect(costOf({ output: 1_000_000n }, find('standard', 1_000n))).toBe(15n * NANO);
    }
    const claude = book.pricesFor('anthropic', 'claude-sonnet-4-5-20250929', AT);
    const cost = costOf({ cache_read: 10n ** 6n, cache_write_5m: 10n ** 6n, cache_write_1h: 10n ** 6n }, claude);
    expect(cost).toBe((1005n * NANO) / 100n);
  });

  it.each([
    ['anthropic', 'claude-sonnet-4-5-20250929', ['claude-sonnet-4-5@20250929', 'anthropic/claude-sonnet-4-5@20250929']],
    ['anthropic', 'claude-opus-4-6', ['publishers/anthropic/models/claude-opus-4-6', 'claude-opus-4-6@20260101']],
    ['gemini', 'gemini-2.5-pro', ['gemini-2.5-pro', 'google/gemini-2.5-pro']],
  ] as const)('of %s for %s count at Vertex too, by its names', (provider, model, names) => {
    const shown = (prices: readonly Price[]): readonly string[] =>
      prices.map(({ unit, mode, minInputTokens, price }) => [unit, mode, minInputTokens, price].join(' ')).sort();
    const own = shown(book.pricesFor(provider, model, AT));
    expect(own.length).toBeGreaterThan(1);
    for (const name of names) expect(shown(book.pricesFor('vertex', name, AT))).toEqual(own);
    expect(book.pricesFor('vertex', 'meta/llama-4', AT)).toEqual([]);
  });

  it.each(['claude-sonnet-4-5@20250929', 'claude-opus-4-6', 'claude-opus-4-6@20260101'])(
    'are a tenth higher for %s at the regions of Vertex, but for searches',
    (model) => {
      const [global, regional] = [model, atRegions(model)].map((name) => book.pricesFor('vertex', name, AT));
      const quantities = { input: 1_000_000n, cache_read: 1_000_000n, output: 1_000_000n };
      expect(costOf(quantities, regional ?? [])).toBe((costOf(quantities, global ?? []) * 11n) / 10n);
      expect(costOf({ web_search: 1_000n }, regional ?? [])).toBe(costOf({ web_search: 1_000n }, global ?? []));
    },
  );

  it('of regions give way to a price of an organisation for the model itself', () => {
    const own = { id: 'own', provider: 'vertex', model: 'claude-opus-4-6', unit: 'input', price: 5n } as const;
    const rest = { mode: 'standard', minInputTokens: 0, effectiveFrom: AT } as const;
    const [price] = new PriceBook([[{ ...own, ...rest }], bundledVisible()]).pricesFor(
      'vertex',
      atRegions('claude-opus-4-6'),
      AT,
    );
    expect(price?.id).toBe('own');
  });

  it('gives a version its own prices where it has some', () => {
    const old = book.pricesFor('openai', 'gpt-4o-2024-05-13', AT);
    expect(costOf({ input: 1_000_000n }, old)).toBe(5n * NANO);
  });

  it('adds up bundled prices without loss', () => {
    const prices = book.pricesFor('voyage', 'rerank-2.5-lite', AT);
    // In floats, 0.0000002 a million times is 0.20000000000369.
    let sum = 0n;
    for (let call = 0; call < 1_000_000; call += 1) sum += costOf({ input: 10n }, prices);
    expect(sum).toBe(NANO / 5n);
  });
});
