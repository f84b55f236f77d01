// The prices of genai-prices: `[{"id", "models": [{"id", "match", "prices"}]}]`, in US dollars for a million tokens or a thousand
// of others. Source: https://github.com/pydantic/genai-prices, prices/units.yml and prices/new_data/v2, read 2026-11-27.
import { isObject, type JsonObject, readArray, readObject, readString } from '../../src/common/json/read.js';
import type { PricedUnit } from '../../src/usage/prices/price.types.js';
import { readMatch } from './genai-match.js';
import { inAtto, wholeNumber } from './read-numbers.js';
import type { SourceModel, SourcePrice, SourceProvider } from './source.types.js';

interface Unit {
  readonly unit: PricedUnit;
  /** The power of ten of units that the price is for. */
  readonly per: number;
}

const UNITS: ReadonlyMap<string, Unit> = new Map<string, Unit>([
  ['input_mtok', { unit: 'input', per: 6 }],
  ['output_mtok', { unit: 'output', per: 6 }],
  ['cache_read_mtok', { unit: 'cache_read', per: 6 }],
  ['cache_write_mtok', { unit: 'cache_write_5m', per: 6 }],
  ['cache_write_1h_mtok', { unit: 'cache_write_1h', per: 6 }],
  ['input_audio_mtok', { unit: 'input_audio', per: 6 }],
  ['output_audio_mtok', { unit: 'output_audio', per: 6 }],
  ['input_image_mtok', { unit: 'input_image', per: 6 }],
  ['output_image_mtok', { unit: 'output_image', per: 6 }],
  ['web_searches_kcount', { unit: 'web_search', per: 3 }],
  ['requests_kcount', { unit: 'request', per: 3 }],
]);

/**
 * A provider that sells the models of others at their prices names those others.
 * @param document with its numbers as text
 * @param day the prices of which day: `2026-09-23`
 */
export function readGenaiPrices(document: unknown, providerId: string, day: string): SourceProvider {
  const providers = readArray(document, 'genai-prices').map((value) => readObject(value, 'genai-prices'));
  const provider = readObject(
    providers.find(({ id }) => id === providerId),
    `genai-prices, ${providerId}`,
  );
  const others = readArray(provider['fallback_model_providers'] ?? [], `${providerId}.fallback_model_providers`);
  const fallbacks = others.map((id) => readGenaiPrices(document, readString(id, providerId), day));
  const entries = readArray(provider['models'], `${providerId}.models`).map((value) => {
    const entry = readObject(value, `${providerId}.models`);
    const id = readString(entry['id'], `${providerId}.models.id`);
    const path = `${providerId}.${id}`;
    return { fits: readMatch(entry['match'], `${path}.match`), model: readModel(id, entry, day, path) };
  });
  return {
    models: entries.map(({ model }) => model),
    find: (name) =>
      entries.find(({ fits }) => fits(name.toLowerCase()))?.model ??
      fallbacks.map((fallback) => fallback.find(name)).find((model) => model !== undefined),
  };
}

function readModel(id: string, { prices }: JsonObject, day: string, path: string): SourceModel {
  if (!Array.isArray(prices)) return { id, ...readPrices(readObject(prices, `${path}.prices`), path) };
  const periods = readArray(prices, `${path}.prices`).map((value) => readObject(value, `${path}.prices`));
  const later = periods.filter(({ constraint }) => isObject(constraint) && startOf(constraint) > day);
  const current = periods.filter((period) => !later.includes(period)).at(-1);
  if (current === undefined) return { id, prices: [], notUnderstood: ['prices of later days only'] };
  const { constraint } = current;
  const isByTime = periods.some((period) => isObject(period['constraint']) && startOf(period['constraint']) === '');
  const { prices: found, notUnderstood } = readPrices(readObject(current['prices'], `${path}.prices`), path);
  const notes = later.map(({ constraint: from }) => `other prices from ${isObject(from) ? startOf(from) : ''}`);
  return {
    id,
    prices: found,
    notUnderstood: [...notUnderstood, ...notes, ...(isByTime ? ['prices by the time of day'] : [])],
    ...(isObject(constraint) && !isByTime ? { from: startOf(constraint) } : {}),
  };
}

/** Empty: the constraint is another one. */
function startOf({ start_date: start }: JsonObject): string {
  return typeof start === 'string' && /^20\d\d-[01]\d-[0-3]\d$/.test(start) ? start : '';
}

function readPrices(prices: JsonObject, path: string): Pick<SourceModel, 'prices' | 'notUnderstood'> {
  const found: SourcePrice[] = [];
  const notUnderstood: string[] = [];
  for (const [name, value] of Object.entries(prices)) {
    const known = UNITS.get(name);
    if (known === undefined) notUnderstood.push(name);
    else found.push(...readUnit(known, value, `${path}.${name}`));
  }
  return { prices: found, notUnderstood };
}

function readUnit({ unit, per }: Unit, value: unknown, path: string): readonly SourcePrice[] {
  const { base, tiers } = isObject(value) ? value : { base: value, tiers: [] };
  const prices: SourcePrice[] = [{ unit, mode: 'standard', minInputTokens: 0, price: inAtto(base, per, path) }];
  for (const tier of readArray(tiers, `${path}.tiers`)) {
    const { start, price } = readObject(tier, `${path}.tiers`);
    // It counts for more tokens than that.
    const minInputTokens = wholeNumber(start, `${path}.tiers.start`) + 1;
    prices.push({ unit, mode: 'standard', minInputTokens, price: inAtto(price, per, `${path}.tiers.price`) });
  }
  // 0 means that it is not known, or not sold.
  return prices.filter(({ price }) => price > 0n);
}
