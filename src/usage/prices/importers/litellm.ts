// LiteLLM's price map, one file for all: `{"<model>": {"mode", "litellm_provider", "input_cost_per_query", "input_cost_per_token"}}`,
// in US dollars. Source: https://github.com/BerriAI/litellm, model_prices_and_context_window.json, read 2026-11-21.
import { isObject, type JsonObject, readObject, stringOrUndefined } from '../../../common/json/read.js';
import { roundDecimal } from '../../../common/money/decimal.js';
import type { ProviderSlug } from '../../../upstream/providers/provider.types.js';
import { PRICE_DECIMALS, type PricedUnit } from '../price.types.js';
import { type ListEntry, type ReadPriceList, sortEntries } from './price-list.reader.js';
import { soldModel } from './rerank-units.js';

const PROVIDERS: ReadonlyMap<string, ProviderSlug> = new Map([
  ['cohere', 'cohere'],
  ['voyage', 'voyage'],
  ['jina_ai', 'jina'],
  ['bedrock', 'bedrock'],
  ['azure_ai', 'azure-ai'],
]);
const FIELDS: ReadonlyMap<PricedUnit, string> = new Map([
  ['search_unit', 'input_cost_per_query'],
  ['input', 'input_cost_per_token'],
]);

export function readLiteLlmPrices(document: unknown): ReadPriceList {
  const entries: ListEntry[] = [];
  for (const [name, entry] of Object.entries(readObject(document, 'the file'))) {
    if (!isObject(entry) || entry['mode'] !== 'rerank') continue;
    const place = stringOrUndefined(entry['litellm_provider']) ?? '';
    const provider = PROVIDERS.get(place);
    if (provider === undefined) continue;
    const sold = soldModel(provider, name.startsWith(`${place}/`) ? name.slice(place.length + 1) : name);
    entries.push({ name, provider, sold, priceFor: (unit) => priceOf(entry, unit) });
  }
  return sortEntries(entries);
}

/** undefined for 0, which means that the model is sold by another unit, or that its price is unknown. */
function priceOf(entry: JsonObject, unit: PricedUnit): bigint | undefined {
  const text = stringOrUndefined(entry[FIELDS.get(unit) ?? '']);
  return text === undefined ? undefined : roundDecimal(text, PRICE_DECIMALS) || undefined;
}
