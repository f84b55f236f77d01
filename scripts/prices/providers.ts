import type { ProviderSlug } from '../../src/upstream/providers/provider.types.js';

/** By which names the two sources know a provider. */
export interface ListedProvider {
  readonly slug: ProviderSlug;
  readonly modelsDev: string;
  readonly genaiPrices: string;
}

/** A provider that only one source has, or none, needs prices of its own: its customers' or the operator's. */
export const LISTED_PROVIDERS: readonly ListedProvider[] = [
  { slug: 'openai', modelsDev: 'openai', genaiPrices: 'openai' },
  { slug: 'azure-openai', modelsDev: 'azure', genaiPrices: 'azure' },
  { slug: 'anthropic', modelsDev: 'anthropic', genaiPrices: 'anthropic' },
  { slug: 'bedrock', modelsDev: 'amazon-bedrock', genaiPrices: 'aws' },
  // Deployments of a resource, whichever provider calls them.
  { slug: 'azure-ai', modelsDev: 'azure', genaiPrices: 'azure' },
  { slug: 'gemini', modelsDev: 'google', genaiPrices: 'google' },
  { slug: 'groq', modelsDev: 'groq', genaiPrices: 'groq' },
  { slug: 'mistral', modelsDev: 'mistral', genaiPrices: 'mistral' },
  { slug: 'deepseek', modelsDev: 'deepseek', genaiPrices: 'deepseek' },
  { slug: 'moonshot', modelsDev: 'moonshotai', genaiPrices: 'moonshotai' },
  { slug: 'xai', modelsDev: 'xai', genaiPrices: 'x-ai' },
  { slug: 'together', modelsDev: 'togetherai', genaiPrices: 'together' },
  { slug: 'fireworks', modelsDev: 'fireworks-ai', genaiPrices: 'fireworks' },
  { slug: 'cohere', modelsDev: 'cohere', genaiPrices: 'cohere' },
];
