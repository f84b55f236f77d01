import { describe, expect, it } from '@jest/globals';
import { parseWithNumbersAsText } from '../../../common/json/numbers.js';
import { formatDecimal } from '../../../common/money/decimal.js';
import { bundledPrices } from '../bundled-prices.js';
import { COHERE, JINA, LITELLM, VOYAGE } from './__fixtures__/lists.js';
import type { PriceListFile } from './import-prices.js';
import { readLiteLlmPrices } from './litellm.js';
import { readPortkeyPrices } from './portkey.js';
import type { ReadPriceList } from './price-list.reader.js';
import { soldModel } from './rerank-units.js';

function read({ format, name, text }: PriceListFile): ReadPriceList {
  const document = parseWithNumbersAsText(text);
  return format === 'portkey' ? readPortkeyPrices(document, name) : readLiteLlmPrices(document);
}

function shown({ prices }: ReadPriceList): readonly string[] {
  return prices.map(({ provider, model, unit, price }) => `${provider} ${model} ${unit} ${formatDecimal(price, 18)}`);
}

/** A file of Portkey's with one model at a price. */
function portkey(model: string, price: string, name = 'cohere.json'): PriceListFile {
  const text = `{"${model}": {"pricing_config": {"pay_as_you_go": {"request_token": {"price": ${price}}}}}}`;
  return { format: 'portkey', name, text };
}

function litellm(model: string, fields: string): PriceListFile {
  return { format: 'litellm', name: 'list.json', text: `{"${model}": {"mode": "rerank", ${fields}}}` };
}

describe('the list of Portkey', () => {
  it("reads Cohere's prices of Portkey's list as cents per search unit", () => {
    expect(shown(read(COHERE))).toEqual([
      'cohere rerank-english-v3.0 search_unit 0.002',
      'cohere rerank-multilingual-v3.0 search_unit 0.002',
      'cohere rerank-v3.5 search_unit 0.002',
      'cohere rerank-v4.0-fast search_unit 0.002',
      'cohere rerank-v4.0-pro search_unit 0.002',
    ]);
  });

  it("reads Jina's prices of Portkey's list as cents per token, from the same field", () => {
    expect(shown(read(JINA))).toEqual([
      'jina jina-reranker-v1-base-en input 0.00000002',
      'jina jina-reranker-v2-base-multilingual input 0.00000002',
    ]);
  });

  it("refuses Voyage's file of Portkey's list, which is in dollars", () => {
    expect(() => read(VOYAGE)).toThrow('dollars');
  });

  it("refuses a file of Portkey's list whose name names no provider", () => {
    expect(() => read(portkey('rerank-v3.5', '0.2', 'openai.json'))).toThrow('cohere.json');
  });

  it('leaves out models of unknown unit, and reports them', () => {
    expect(read(COHERE).leftOut).toEqual([{ model: 'rerank-multilingual-v2.0', reason: expect.any(String) }]);
    expect(read(portkey('rerank-v9', '0.2'))).toMatchObject({ prices: [], leftOut: [{ model: 'rerank-v9' }] });
  });

  it.each(['0', '0.0', '0e-7'])('reads the price %s as unknown', (price) => {
    expect(read(portkey('rerank-v3.5', price))).toMatchObject({ prices: [], leftOut: [{ model: 'rerank-v3.5' }] });
  });

  it('keeps the last digit of a price, and removes the error of floats', () => {
    expect(shown(read(portkey('rerank-v3.5', '0.1000000000000001')))).toEqual([
      'cohere rerank-v3.5 search_unit 0.001000000000000001',
    ]);
    expect(shown(read(portkey('rerank-v3.5', '0.20000000000000001110')))).toEqual([
      'cohere rerank-v3.5 search_unit 0.002',
    ]);
  });

  it.each(['"text"', 'null', '{}', '-1'])('refuses a price that is %s', (price) => {
    const prices = (): unknown => read(portkey('rerank-v3.5', price)).prices;
    if (price === '"text"' || price === '-1') expect(prices()).toEqual([]);
    else expect(prices).toThrow('rerank-v3.5.pricing_config.pay_as_you_go.request_token.price');
  });
});

describe('the list of LiteLLM', () => {
  it("reads LiteLLM's prices as dollars, per query or per token", () => {
    expect(shown(read(LITELLM))).toEqual([
      'bedrock amazon.rerank-v1:0 search_unit 0.001',
      'azure-ai Cohere-rerank-v3.5 search_unit 0.002',
      'azure-ai Cohere-rerank-v4.0-pro search_unit 0.0025',
      'azure-ai Cohere-rerank-v4.0-fast search_unit 0.002',
      'bedrock cohere.rerank-v3-5:0 search_unit 0.002',
      'cohere rerank-english-v3.0 search_unit 0.002',
      'cohere rerank-multilingual-v3.0 search_unit 0.002',
      'cohere rerank-v3.5 search_unit 0.002',
      'voyage rerank-2 input 0.00000005',
      'voyage rerank-2-lite input 0.00000002',
      'voyage rerank-2.5 input 0.00000005',
      'voyage rerank-2.5-lite input 0.00000002',
    ]);
    expect(read(LITELLM).leftOut).toEqual([{ model: 'rerank-english-v2.0', reason: expect.any(String) }]);
  });

  it('reads a model of LiteLLM with or without its provider in front, in any case', () => {
    const fields = '"litellm_provider": "azure_ai", "input_cost_per_query": 0.0025';
    for (const name of ['azure_ai/cohere-rerank-v4.0-pro', 'Cohere-rerank-v4.0-pro']) {
      expect(shown(read(litellm(name, fields)))).toEqual(['azure-ai Cohere-rerank-v4.0-pro search_unit 0.0025']);
    }
  });

  it('reads no price for a model that LiteLLM sells by another unit', () => {
    const byToken = '"litellm_provider": "cohere", "input_cost_per_query": 0.0, "input_cost_per_token": 5e-08';
    expect(read(litellm('rerank-v3.5', byToken))).toMatchObject({ prices: [], leftOut: [{ model: 'rerank-v3.5' }] });
  });

  it('refuses a list of LiteLLM that is not an object', () => {
    expect(() => readLiteLlmPrices([])).toThrow('expected an object');
  });
});

describe('a price of more than a million dollars', () => {
  const inDollars = (price: string): PriceListFile =>
    litellm('rerank-v3.5', `"litellm_provider": "cohere", "input_cost_per_query": ${price}`);
  const inCents = (price: string): PriceListFile => portkey('rerank-v3.5', price);

  it.each([
    ['LiteLLM', inDollars, '1000000', ['1000000.01', '1e21', '1e999']],
    ['Portkey', inCents, '100000000', ['100000000.01', '1e23', '1e999']],
  ] as const)(
    'leaves a price of more than a million dollars out of the list of %s',
    (_list, fileWith, highest, tooHigh) => {
      expect(shown(read(fileWith(highest)))).toEqual(['cohere rerank-v3.5 search_unit 1000000']);
      for (const price of tooHigh) {
        const reason = expect.stringContaining('million dollars');
        expect(read(fileWith(price))).toEqual({ prices: [], leftOut: [{ model: 'rerank-v3.5', reason }] });
      }
    },
  );
});

describe('the units of models', () => {
  it('knows the units of the rerankers with bundled prices', () => {
    for (const { provider, model, unit } of bundledPrices()) {
      if (model.includes('rerank')) expect(soldModel(provider, model)).toEqual({ model, unit });
    }
  });
});
