// What models can read and write, read by hand. A bound of a call may rest on it, so a model is here only where its source
// says it, and one that is not here has no bound. Models of chat come with their importer.
import type { ProviderSlug } from '../../upstream/providers/provider.types.js';
import { pricedNames } from '../model-names.js';

export type Modality = 'text' | 'image' | 'audio';

export interface ModelFacts {
  /** Tokens that one request can have at most: of a reranker the query with one document. */
  readonly contextWindow: number;
  /** Tokens that one answer can have at most; 0: the model writes none. */
  readonly maxOutput: number;
  readonly inputModalities: readonly Modality[];
  readonly outputModalities: readonly Modality[];
  /** Where it was read, and on which day. */
  readonly source: string;
  readonly readOn: string;
}

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

/** By any of the model's names, in any case; undefined: unknown, which differs from 0. */
export function modelFacts(provider: ProviderSlug, model: string): ModelFacts | undefined {
  const known = CONTEXT_WINDOWS[provider] ?? {};
  for (const { text } of pricedNames(provider, model).flat()) {
    const contextWindow = Object.hasOwn(known, text) ? known[text] : undefined;
    if (contextWindow !== undefined) return { contextWindow, ...RERANKER };
  }
  return undefined;
}
