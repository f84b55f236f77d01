import { describe, expect, it } from '@jest/globals';
import { costOf } from './cost.js';
import { BUNDLED_PRICES } from './bundled-prices.js';
import { PriceBook } from './price-book.js';
import { BUNDLED } from './visible-price.js';

const AT = new Date('2026-11-21T00:00:00Z');
const book = new PriceBook([BUNDLED]);
const NANO = 1_000_000_000n;

describe('the bundled prices', () => {
  it.each(BUNDLED_PRICES.map((price) => ({ name: `${price.provider} ${price.model}`, price })))(
    'names the source of $name and the date on which it was read',
    ({ price }) => {
      expect(price.readOn).toMatch(/^20\d\d-[01]\d-[0-3]\d$/);
      if (price.provider === 'local') return;
      expect(new URL(price.source).protocol).toBe('https:');
      expect(price.price).toBeGreaterThan(0n);
    },
  );

  it('has unique ids, and one row per model, unit and day', () => {
    expect(new Set(BUNDLED_PRICES.map(({ id }) => id)).size).toBe(BUNDLED_PRICES.length);
    const keys = BUNDLED_PRICES.map(({ provider, model, unit, effectiveFrom }) =>
      [provider, model, unit, effectiveFrom.getTime()].join(' '),
    );
    expect(new Set(keys).size).toBe(keys.length);
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
    ['openai', 'gpt-5'],
    ['cohere', 'rerank-v3.5-tuned'],
  ])('bundles no price for %s %s', (provider, model) => {
    expect(book.pricesFor(provider, model, AT)).toEqual([]);
  });

  it('adds up bundled prices without loss', () => {
    const prices = book.pricesFor('voyage', 'rerank-2.5-lite', AT);
    // In floats, 0.0000002 a million times is 0.20000000000369.
    let sum = 0n;
    for (let call = 0; call < 1_000_000; call += 1) sum += costOf({ input: 10n }, prices);
    expect(sum).toBe(NANO / 5n);
  });
});
