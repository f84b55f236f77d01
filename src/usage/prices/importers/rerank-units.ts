// By what each rerank model is sold. Public price lists do not say: the same field of theirs holds a price for a search unit
// in one row and for a token in the next, so that a list read naively bills 5,000 tokens as 5,000 searches. What is not
// here is not imported.
import type { ProviderSlug } from '../../../upstream/providers/provider.types.js';
import type { PricedUnit } from '../price.types.js';

export interface SoldModel {
  /** As callers name it. */
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

/** The model under that name, in any case (lists differ in it); undefined: its unit of sale is not known. */
export function soldModel(provider: ProviderSlug, name: string): SoldModel | undefined {
  const found = Object.entries(UNITS[provider] ?? {}).find(([model]) => model.toLowerCase() === name.toLowerCase());
  return found === undefined ? undefined : { model: found[0], unit: found[1] };
}
