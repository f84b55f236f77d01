// Portkey's open price files, one per provider: `{"<model>": {"pricing_config": {"pay_as_you_go": {"request_token":
// {"price"}}}}}`, in US cents per unit. Source: https://github.com/Portkey-AI/models, folder pricing, read 2026-11-21.
import { readObject, readString } from '../../../common/json/read.js';
import { roundDecimal } from '../../../common/money/decimal.js';
import type { ProviderSlug } from '../../../upstream/providers/provider.types.js';
import { PRICE_DECIMALS } from '../price.types.js';
import { type ReadPriceList, sortEntries } from './price-list.reader.js';
import { soldModel } from './rerank-units.js';

const PROVIDERS: ReadonlyMap<string, ProviderSlug> = new Map([
  ['cohere.json', 'cohere'],
  ['jina.json', 'jina'],
  ['bedrock.json', 'bedrock'],
  ['azure-ai.json', 'azure-ai'],
]);
const IN_DOLLARS = 'voyage.json';
/** Stands for models that are not listed, with the price 0. */
const DEFAULT = 'default';
/** A cent is two decimals less than a dollar. */
const CENT_DECIMALS = PRICE_DECIMALS - 2;

export function readPortkeyPrices(document: unknown, fileName: string): ReadPriceList {
  const provider = providerOf(fileName);
  const models = Object.entries(readObject(document, 'the file')).filter(
    ([name]) => name !== DEFAULT && name.toLowerCase().includes('rerank'),
  );
  return sortEntries(
    models.map(([name, entry]) => ({
      name,
      provider,
      sold: soldModel(provider, name),
      priceFor: () => priceOf(entry, name),
    })),
  );
}

function providerOf(fileName: string): ProviderSlug {
  const provider = PROVIDERS.get(fileName);
  if (provider !== undefined) return provider;
  if (fileName === IN_DOLLARS) {
    throw new Error(
      `${IN_DOLLARS} states dollars where the other files state cents: its prices would be 100 times too low`,
    );
  }
  throw new Error(
    `the provider is taken from the name of the file, which must be one of ${[...PROVIDERS.keys()].join(', ')}`,
  );
}

/** undefined for 0, which means an unknown price. */
function priceOf(entry: unknown, name: string): bigint | undefined {
  const config = readObject(readObject(entry, name)['pricing_config'], `${name}.pricing_config`);
  const rates = readObject(config['pay_as_you_go'], `${name}.pricing_config.pay_as_you_go`);
  const path = `${name}.pricing_config.pay_as_you_go.request_token`;
  const text = readString(readObject(rates['request_token'], path)['price'], `${path}.price`);
  return roundDecimal(text, CENT_DECIMALS) || undefined;
}
