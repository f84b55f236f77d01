// The facts of models: rerankers, collected by hand, and chats and embeddings, from the snapshot. The bounds of calls
// rely on them, so each model here has a source. A model that is not here has no bound.
import { PROVIDER_SLUGS, type ProviderSlug } from '../../upstream/providers/provider.types.js';
import { foldModel, pricedNames } from '../model-names.js';
import type { KnownModel } from '../snapshot/model-rows.js';
import { withResoldModels } from '../snapshot/resold.js';
import { readSnapshotModels } from '../snapshot/snapshot.js';
import type { ModelFacts } from './model-facts.js';

const SOURCE = 'https://github.com/BerriAI/litellm/blob/main/model_prices_and_context_window.json';
const RERANKER = {
  maxOutput: 0,
  inputModalities: ['text'],
  outputModalities: [],
  source: SOURCE,
  readOn: '2026-11-21',
} as const;

const CONTEXT_WINDOWS: Readonly<Partial<Record<ProviderSlug, Readonly<Record<string, number>>>>> = {
  cohere: { 'rerank-v3.5': 4_096, 'rerank-english-v3.0': 4_096, 'rerank-multilingual-v3.0': 4_096 },
  voyage: { 'rerank-2': 16_000, 'rerank-2-lite': 8_000, 'rerank-2.5': 32_000, 'rerank-2.5-lite': 32_000 },
  bedrock: { 'amazon.rerank-v1:0': 32_000, 'cohere.rerank-v3-5:0': 32_000 },
  'azure-ai': { 'cohere-rerank-v3.5': 4_096, 'cohere-rerank-v4.0-fast': 32_768, 'cohere-rerank-v4.0-pro': 32_768 },
};

let rows: readonly KnownModel[] | undefined;
let facts: ReadonlyMap<string, ModelFacts> | undefined;

/** All models with known facts. They are read at the first use. */
export function catalogueModels(): readonly KnownModel[] {
  rows ??= [...withResoldModels(readSnapshotModels()), ...rerankers()];
  return rows;
}

function allFacts(): ReadonlyMap<string, ModelFacts> {
  facts ??= new Map(catalogueModels().map((row) => [`${row.provider} ${foldModel(row.model)}`, row.facts] as const));
  return facts;
}

/** The facts of a model by any of its names, in any case; undefined when unknown, which differs from 0. */
export function modelFacts(provider: ProviderSlug, model: string): ModelFacts | undefined {
  for (const { text } of pricedNames(provider, model).flat()) {
    const found = allFacts().get(`${provider} ${text}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The names of a provider's known models. */
export function knownModels(provider: ProviderSlug): readonly string[] {
  const start = `${provider} `;
  return [...allFacts().keys()].filter((key) => key.startsWith(start)).map((key) => key.slice(start.length));
}

function rerankers(): readonly KnownModel[] {
  return PROVIDER_SLUGS.flatMap((provider) =>
    Object.entries(CONTEXT_WINDOWS[provider] ?? {}).map(([model, contextWindow]) => {
      return { provider, model, facts: { contextWindow, ...RERANKER } };
    }),
  );
}
