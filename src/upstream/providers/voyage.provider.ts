import { bearer, buildRequest, baseUrl, joinUrl } from './build-request.js';

// Provider P2. Source: https://docs.voyageai.com/reference/reranker-api and https://docs.voyageai.com/docs/error-codes, read 2026-11-21.
import { keyProblems } from './option-rules.js';
import { ProviderOptions } from './provider-options.js';
import type { Provider } from './provider.types.js';

/** Keys issued by MongoDB need `base_url` https://ai.mongodb.com; the contract is the same. */
export class VoyageOptions extends ProviderOptions {}

export const voyage: Provider<VoyageOptions> = {
  slug: 'voyage',
  name: 'Voyage AI',
  optionsClass: VoyageOptions,
  key: 'required',
  checkOptions: (_options, key) => keyProblems('required', key),
  address(request, credential) {
    const url = joinUrl(baseUrl(credential.options, 'https://api.voyageai.com'), request);
    return buildRequest(url, request, bearer(credential));
  },
  // Voyage has no free request that needs a key. This is the smallest one: a few tokens of its cheapest current
  // reranker.
  probe: {
    request: {
      method: 'POST',
      path: '/v1/rerank',
      body: { model: 'rerank-2.5-lite', query: 'a', documents: ['a'], return_documents: false },
    },
    accepts: [200],
  },
};
