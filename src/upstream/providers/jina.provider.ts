import { bearer, buildRequest, baseUrl, joinUrl } from './build-request.js';

// Provider P3. Source: https://api.jina.ai/redoc#tag/rerank and https://jina.ai/reranker, read 2026-11-21.
import { keyProblems } from './option-rules.js';
import { ProviderOptions } from './provider-options.js';
import type { Provider } from './provider.types.js';

export class JinaOptions extends ProviderOptions {}

export const jina: Provider<JinaOptions> = {
  slug: 'jina',
  name: 'Jina AI',
  optionsClass: JinaOptions,
  key: 'required',
  checkOptions: (_options, key) => keyProblems('required', key),
  address(request, credential) {
    const url = joinUrl(baseUrl(credential.options, 'https://api.jina.ai'), request);
    return buildRequest(url, request, bearer(credential));
  },
  // Jina has no free request that needs a key. This is the smallest one: a few tokens of its cheaper reranker.
  probe: {
    request: {
      method: 'POST',
      path: '/v1/rerank',
      body: { model: 'jina-reranker-v2-base-multilingual', query: 'a', documents: ['a'], return_documents: false },
    },
    accepts: [200],
  },
};
