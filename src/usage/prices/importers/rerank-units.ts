// The unit by which each rerank model is sold. Public price lists do not state it: one field holds the price of a
// search unit in one row, and of a token in the next. Read naively, such a list bills 5,000 tokens as 5,000 searches.
// Models that are not here are not imported.
import type { ProviderSlug } from '../../../upstream/providers/provider.types.js';
import type { PricedUnit } from '../price.types.js';

export interface SoldModel {
  /** The name that callers use. */
  readonly model: string;
  readonly unit: PricedUnit;
}

const UNITS: Readonly<Partial<Record<ProviderSlug, Readonly<Record<string, PricedUnit>>>>> = {
  cohere: {
    'rerank-english-v3.0': 'search_unit',
    'rerank-multilingual-v3.0': 'search_unit',
    'rerank-v3.5': 'search_unit',
    'rerank-v4.0-fast': 'search_unit',
    'rerank-v4.0-pro': 'search_unit',
    'rerank-v5.0-fast': 'input',
    'rerank-v5.0-pro': 'input',
  },
  voyage: {
    'rerank-2': 'input',
    'rerank-2-lite': 'input',
    'rerank-2.5': 'input',
    'rerank-2.5-lite': 'input',
    'rerank-3': 'input',
    'rerank-3-lite': 'input',
  },
  jina: {
    'jina-reranker-v1-base-en': 'input',
    'jina-reranker-v2-base-multilingual': 'input',
    'jina-reranker-v3': 'input',
    'jina-reranker-m0': 'input',
  },
  bedrock: {
    'amazon.rerank-v1:0': 'search_unit',
    'cohere.rerank-v3-5:0': 'search_unit',
  },
  'azure-ai': {
    'Cohere-rerank-v3-English': 'search_unit',
    'Cohere-rerank-v3-multilingual': 'search_unit',
    'Cohere-rerank-v3.5': 'search_unit',
    'Cohere-rerank-v4.0-fast': 'search_unit',
    'Cohere-rerank-v4.0-pro': 'search_unit',
  },
};

/** Finds a model by its name in any case, since lists differ in it; undefined when its unit of sale is unknown. */
export function soldModel(provider: ProviderSlug, name: string): SoldModel | undefined {
  const found = Object.entries(UNITS[provider] ?? {}).find(([model]) => model.toLowerCase() === name.toLowerCase());
  return found === undefined ? undefined : { model: found[0], unit: found[1] };
}
