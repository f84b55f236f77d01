import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { pricesOf } from './price-list.js';
import type { Price, PricedUnit } from './price.types.js';
import { PriceBook } from './price-catalogue.js';

const DAY_MS = 86_400_000;
const FIRST = Date.parse('2026-01-01T00:00:00Z');

function day(number: number): Date {
  return new Date(FIRST + number * DAY_MS);
}

function row(id: string, fields: Partial<Price> = {}): Price {
  return {
    id,
    provider: 'cohere',
    model: 'rerank-v3.5',
    unit: 'search_unit',
    mode: 'standard',
    minInputTokens: 0,
    price: 1n,
    effectiveFrom: day(0),
    ...fields,
  };
}

function idsOf(book: PriceBook, at: Date, model = 'rerank-v3.5', provider = 'cohere'): readonly string[] {
  return book.pricesFor(provider, model, at).map(({ id }) => id);
}

describe('PriceBook', () => {
  it('prices a model by the first list that has it', () => {
    const book = new PriceBook([[row('own', { model: 'own-*' })], [row('operator')], [row('bundled')]]);
    expect(idsOf(book, day(1))).toEqual(['operator']);
    expect(idsOf(book, day(1), 'own-model')).toEqual(['own']);
  });

  it('uses a later list until the first one comes into force', () => {
    const book = new PriceBook([[row('own', { effectiveFrom: day(5) })], [row('operator')]]);
    expect([day(4), day(5), day(4)].map((at) => idsOf(book, at))).toEqual([['operator'], ['own'], ['operator']]);
    expect(idsOf(book, day(-1))).toEqual([]);
  });

  it('ends a row on its last day, without a newer one', () => {
    const book = new PriceBook([[row('base'), row('tier', { minInputTokens: 100, effectiveUntil: day(5) })]]);
    expect([day(4), day(5), day(4)].map((at) => idsOf(book, at).length)).toEqual([2, 1, 2]);
  });

  it('looks up a model once, until another row comes into force', () => {
    const book = new PriceBook([[row('old'), row('new', { effectiveFrom: day(5) })]]);
    const first = book.pricesFor('cohere', 'rerank-v3.5', day(1));
    expect(book.pricesFor('cohere', 'rerank-v3.5', day(4))).toBe(first);
    expect(idsOf(book, day(5))).toEqual(['new']);
  });

  it('prices an ARN by its model, and prefers a price for the exact ARN', () => {
    const arn = 'arn:aws:bedrock:us-east-1::foundation-model/cohere.rerank-v3-5:0';
    const model = row('model', { provider: 'bedrock', model: 'cohere.rerank-v3-5:0' });
    const region = row('region', { provider: 'bedrock', model: 'arn:aws:bedrock:us-east-1:*' });
    expect(idsOf(new PriceBook([[model]]), day(1), arn, 'bedrock')).toEqual(['model']);
    expect(idsOf(new PriceBook([[model, region]]), day(1), arn, 'bedrock')).toEqual(['region']);
    expect(idsOf(new PriceBook([[model], [region]]), day(1), arn, 'bedrock')).toEqual(['model']);
    const all = row('all', { provider: 'bedrock', model: '*', unit: 'request' });
    expect(idsOf(new PriceBook([[all, model]]), day(1), arn, 'bedrock')).toEqual(['model']);
  });

  it('prices calls by the units in which they are measured', () => {
    const book = new PriceBook([[row('request', { unit: 'request' })], [row('search')]]);
    const find = (...units: PricedUnit[]): readonly string[] =>
      book.pricesFor('cohere', 'rerank-v3.5', day(1), units).map(({ id }) => id);
    expect([find('search_unit'), find('request'), find('input')]).toEqual([['search'], ['request'], []]);
  });

  it('prices a model however it is spelt', () => {
    const azure = new PriceBook([[row('deployment', { provider: 'azure-ai', model: 'Our-Reranker' })]]);
    for (const spelling of [
      'Our-Reranker',
      'cohere.Our-Reranker',
      'Cohere.our-reranker ',
      'cohere.cohere.Our-Reranker',
    ]) {
      expect(idsOf(azure, day(1), spelling, 'azure-ai')).toEqual(['deployment']);
    }
    expect(idsOf(azure, day(1), 'Our-Reranker-2', 'azure-ai')).toEqual([]);
    expect(idsOf(azure, day(1), 'cohere.Our-Reranker', 'cohere')).toEqual([]);
  });

  it('ranks a price with a prefix that makes no difference like one without', () => {
    const azureRow = (id: string, model: string, effectiveFrom: Date): Price =>
      row(id, { provider: 'azure-ai', model, effectiveFrom });
    const find = (prices: readonly Price[], model = 'our-reranker'): readonly string[] =>
      idsOf(new PriceBook([prices]), day(3), model, 'azure-ai');
    const [whole, beginning] = [azureRow('whole', 'cohere.our-reranker', day(1)), azureRow('some', 'our-*', day(2))];
    expect(find([whole, beginning])).toEqual(['whole']);
    expect(find([azureRow('longer', 'our-rer*', day(1)), azureRow('shorter', 'cohere.our*', day(2))])).toEqual([
      'longer',
    ]);
    expect(find([whole, azureRow('newer', 'our-reranker', day(2))])).toEqual(['newer']);
    expect(find([azureRow('newer', 'cohere.our-reranker', day(2)), azureRow('old', 'our-reranker', day(1))])).toEqual([
      'newer',
    ]);
  });

  it("does not match a pattern that covers only a part of a name's prefix", () => {
    const azure = new PriceBook([[row('prefix', { provider: 'azure-ai', model: 'Cohere*' })]]);
    expect(idsOf(azure, day(1), 'gte-large-prod', 'azure-ai')).toEqual([]);
    expect(idsOf(azure, day(1), 'cohere.Cohere-rerank-v4.0-pro', 'azure-ai')).toEqual(['prefix']);
    const bedrock = new PriceBook([[row('letter', { provider: 'bedrock', model: 'a*' })]]);
    const arn = 'arn:aws:bedrock:us-east-1::foundation-model/';
    expect(idsOf(bedrock, day(1), `${arn}cohere.rerank-v3-5:0`, 'bedrock')).toEqual([]);
    expect(idsOf(bedrock, day(1), `${arn}amazon.rerank-v1:0`, 'bedrock')).toEqual(['letter']);
  });

  it('matches names that are too long for any row only with a pattern that ends in a star', () => {
    const book = new PriceBook([[row('all', { model: '*' })]]);
    expect(idsOf(book, day(1), 'x'.repeat(1_000_000))).toEqual(['all']);
  });

  it('reports whether it was made from the same rows', () => {
    const book = new PriceBook([[row('a')], []]);
    expect(book.isOf([[row('a')], []])).toBe(true);
    for (const lists of [[[row('b')], []], [[row('a'), row('b')], []], [[], [row('a')]], [[row('a')]]]) {
      expect(book.isOf(lists)).toBe(false);
    }
  });

  it('returns the same price as a look-up without memory', () => {
    const anyRow = fc
      .record({
        id: fc.uuid(),
        model: fc.constantFrom('a', 'ab', 'a*', '*'),
        effectiveFrom: fc.integer({ min: 0, max: 5 }).map(day),
      })
      .map(({ id, ...fields }) => row(id, fields));
    const anyCall = fc.record({ model: fc.constantFrom('a', 'ab', 'abc', 'b'), at: fc.integer({ min: -1, max: 6 }) });
    fc.assert(
      fc.property(fc.array(fc.array(anyRow), { maxLength: 3 }), fc.array(anyCall), (lists, calls) => {
        const book = new PriceBook(lists);
        for (const { model, at } of calls) {
          expect(book.pricesFor('cohere', model, day(at))).toEqual(
            pricesOf(lists, 'cohere', [[{ text: model, markLength: 0 }]], day(at)),
          );
        }
      }),
    );
  });
});
