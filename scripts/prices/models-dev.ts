// models.dev's list of all providers: `{"<provider>": {"models": {"<model>": {"cost", "limit", "modalities"}}}}`, in US dollars
// for a million tokens. Source: https://models.dev/api.json and https://github.com/anomalyco/models.dev, README, read 2026-11-27.
import { isObject, type JsonObject, readArray, readObject, readString } from '../../src/common/json/read.js';
import { MODALITIES, type Modality } from '../../src/usage/models/model-facts.js';
import type { PricedUnit, PriceMode } from '../../src/usage/prices/price.types.js';
import { inAtto, wholeNumber } from './read-numbers.js';
import type { SourceModel, SourcePrice, SourceProvider } from './source.types.js';

const UNITS: ReadonlyMap<string, PricedUnit> = new Map([
  ['input', 'input'],
  ['output', 'output'],
  ['cache_read', 'cache_read'],
  ['cache_write', 'cache_write_5m'],
  ['input_audio', 'input_audio'],
  ['output_audio', 'output_audio'],
]);
const TIERS = 'tiers';
/** Another form of the tiers. */
const SAME_AS_TIERS = 'context_over_200k';
/** `output` includes it, so it needs no price of its own while both are the same. */
const REASONING = 'reasoning';
/** By what a request adds to its body. */
const MODES: ReadonlyMap<string | undefined, PriceMode> = new Map<string, PriceMode>([
  ['{"service_tier":"priority"}', 'priority'],
  ['{"service_tier":"ultrafast"}', 'ultrafast'],
  ['{"speed":"fast"}', 'fast'],
]);
/** Of tokens. */
const PER = 6;

interface Found {
  readonly prices: SourcePrice[];
  readonly notUnderstood: string[];
}

/** @param document with its numbers as text */
export function readModelsDev(document: unknown, providerId: string): SourceProvider {
  const provider = readObject(readObject(document, 'models.dev')[providerId], `models.dev, ${providerId}`);
  const models = Object.entries(readObject(provider['models'], `${providerId}.models`)).map(([id, entry]) => {
    return readModel(id, readObject(entry, `${providerId}.models.${id}`), `${providerId}.${id}`);
  });
  const byId = new Map(models.map((model) => [model.id.toLowerCase(), model]));
  return { models, find: (name) => byId.get(name.toLowerCase()) };
}

function readModel(id: string, entry: JsonObject, path: string): SourceModel {
  const found: Found = { prices: [], notUnderstood: [] };
  if (entry['cost'] !== undefined) readCost(readObject(entry['cost'], `${path}.cost`), 'standard', path, found);
  readModes(entry, path, found);
  return { id, ...found, facts: readFacts(id, entry, path) };
}

function readCost(cost: JsonObject, mode: PriceMode, path: string, found: Found): void {
  readUnits(cost, mode, 0, path, found);
  if (cost[TIERS] === undefined) {
    if (cost[SAME_AS_TIERS] !== undefined) found.notUnderstood.push(`${mode} ${SAME_AS_TIERS}`);
    return;
  }
  for (const [index, value] of readArray(cost[TIERS], `${path}.tiers`).entries()) {
    const place = `${path}.tiers.${index}`;
    const { tier, ...units } = readObject(value, place);
    const { size, type = 'context' } = readObject(tier, `${place}.tier`);
    if (type !== 'context') found.notUnderstood.push(`${mode} tier of ${JSON.stringify(type)}`);
    else readUnits(units, mode, wholeNumber(size, `${place}.tier.size`), place, found);
  }
}

function readUnits(cost: JsonObject, mode: PriceMode, minInputTokens: number, path: string, found: Found): void {
  for (const [name, value] of Object.entries(cost)) {
    if (name === TIERS || name === SAME_AS_TIERS) continue;
    const price = inAtto(value, PER, `${path}.${name}`);
    const unit = UNITS.get(name);
    const isOutput = name === REASONING && price === inAtto(cost['output'], PER, `${path}.output`);
    if (unit === undefined && !isOutput) found.notUnderstood.push(`${mode} ${name}`);
    // 0 means that it is not known, or not sold.
    if (unit !== undefined && price > 0n) found.prices.push({ unit, mode, minInputTokens, price });
  }
}

/** Modes of the source have names of its own: what counts is how a request asks for one. */
function readModes({ experimental }: JsonObject, path: string, found: Found): void {
  const modes = isObject(experimental) ? experimental['modes'] : undefined;
  for (const [name, value] of Object.entries(isObject(modes) ? modes : {})) {
    const { cost, provider } = readObject(value, `${path}.modes.${name}`);
    if (cost === undefined) continue;
    const body = isObject(provider) ? provider['body'] : undefined;
    const mode = MODES.get(JSON.stringify(body));
    if (mode !== undefined) readCost(readObject(cost, `${path}.modes.${name}.cost`), mode, path, found);
    else found.notUnderstood.push(`mode ${name}`);
  }
}

function readFacts(id: string, { limit, modalities }: JsonObject, path: string): SourceModel['facts'] {
  const limits = readObject(limit, `${path}.limit`);
  const kinds = readObject(modalities, `${path}.modalities`);
  const contextWindow = wholeNumber(limits['context'], `${path}.limit.context`);
  const outputModalities = readModalities(kinds['output'], `${path}.modalities.output`);
  // Models of images and speech have other bounds.
  if (contextWindow === 0 || !outputModalities.includes('text')) return undefined;
  const inputModalities = readModalities(kinds['input'], `${path}.modalities.input`);
  // There, the source has the length of the vector.
  if (isEmbedding(id)) return { contextWindow, maxOutput: 0, inputModalities, outputModalities: [] };
  const maxOutput = wholeNumber(limits['output'], `${path}.limit.output`);
  return maxOutput === 0 ? undefined : { contextWindow, maxOutput, inputModalities, outputModalities };
}

function isEmbedding(id: string): boolean {
  return /embed/i.test(id);
}

function readModalities(value: unknown, path: string): readonly Modality[] {
  const names = readArray(value, path).map((name) => readString(name, path));
  return MODALITIES.filter((modality) => names.includes(modality));
}
