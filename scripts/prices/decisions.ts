import type { ProviderSlug } from '../../src/upstream/providers/provider.types.js';
import type { PriceMode, PricedUnit } from '../../src/usage/prices/price.types.js';
import type { SourceName } from './source.types.js';

/**
 * What a person decided where the sources differ, or where one of them is silent. Members that are absent fit anything. What is
 * taken from a source that has no such price is left out: the unit is then billed as another one.
 */
export interface Decision {
  readonly provider?: ProviderSlug;
  /** The whole name. */
  readonly model?: string;
  readonly unit?: PricedUnit;
  readonly mode?: PriceMode;
  /** Whether it counts for prices of a tier only. */
  readonly tiersOnly?: true;
  /** Whether it counts only where one of the sources has no such price. */
  readonly whereAlone?: true;
  readonly take: SourceName | 'neither';
  readonly because: string;
}

const AZURE = ['azure-openai', 'azure-ai'] as const;
/** At the prices of the United States, on which both lists agree. */
const NOVA = [
  ...['lite', 'micro', 'pro'].flatMap((size) => [`amazon.nova-${size}-v1:0`, `us.amazon.nova-${size}-v1:0`]),
  'us.amazon.nova-premier-v1:0',
  'us.amazon.nova-2-lite-v1:0',
  'global.amazon.nova-2-lite-v1:0',
];
const AZURE_ROUNDED = ['gpt-5', 'gpt-5-codex', 'gpt-5-mini', 'gpt-5-nano', 'gpt-5.2'];

/** The first that fits counts. */
export const DECISIONS: readonly Decision[] = [
  {
    unit: 'cache_write_1h',
    whereAlone: true,
    take: 'genai-prices',
    because: 'models.dev has one price for all writes to a cache',
  },
  { unit: 'web_search', whereAlone: true, take: 'genai-prices', because: 'models.dev has prices of tokens only' },
  ...(['priority', 'fast', 'ultrafast'] as const).map((mode): Decision => ({
    mode,
    whereAlone: true,
    take: 'models.dev',
    because: 'genai-prices has prices of the standard mode only',
  })),
  {
    unit: 'cache_read',
    whereAlone: true,
    take: 'neither',
    because: 'it is then billed as input, which never costs less',
  },
  ...NOVA.map((model): Decision => ({
    provider: 'bedrock',
    model,
    unit: 'cache_write_5m',
    whereAlone: true,
    take: 'models.dev',
    because: 'Amazon writes to the cache at the price of input',
  })),
  ...['claude-sonnet-4-5', 'claude-sonnet-4-5-20250929'].map((model): Decision => ({
    provider: 'anthropic',
    model,
    tiersOnly: true,
    take: 'models.dev',
    because: 'Anthropic ended the context of more than 200,000 tokens on 2026-04-30: such calls are refused',
  })),
  ...AZURE.flatMap((provider) =>
    AZURE_ROUNDED.map((model): Decision => ({
      provider,
      model,
      unit: 'cache_read',
      take: 'genai-prices',
      because: 'a tenth of the input, as at OpenAI; models.dev has it rounded, or of another model',
    })),
  ),
  ...['gemini-3.5-flash', 'gemini-3.6-flash', 'gemini-3.7-flash', 'gemini-3.8-flash'].map((model): Decision => ({
    provider: 'gemini',
    model,
    unit: 'input_audio',
    whereAlone: true,
    take: 'models.dev',
    because: 'both bill audio as other input, and one of them says it',
  })),
  ...AZURE.map((provider): Decision => ({
    provider,
    model: 'o4-mini',
    unit: 'cache_read',
    take: 'models.dev',
    because: 'a quarter of the input, as at OpenAI; genai-prices has it rounded',
  })),
];

/** Prices that the gateway has no unit for, and that a person has looked at. */
export interface Ignored {
  readonly provider?: ProviderSlug;
  /** As the source names it. */
  readonly price: string;
  readonly because: string;
}

export const IGNORED: readonly Ignored[] = [
  {
    provider: 'gemini',
    price: 'cache_audio_read_mtok',
    because: 'the API that the gateway calls does not report it; it is billed as what is read from the cache',
  },
  { price: 'storage_searches_kcount', because: 'searches in files at the provider are refused under a limit' },
];
