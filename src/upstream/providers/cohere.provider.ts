import { bearer, buildRequest, baseUrl, joinUrl } from './build-request.js';

// Provider P1. Source: https://docs.cohere.com/reference/about and https://docs.cohere.com/reference/errors, read 2026-11-21.
import { keyProblems } from './option-rules.js';
import { ProviderOptions } from './provider-options.js';
import type { Provider } from './provider.types.js';

export class CohereOptions extends ProviderOptions {}

export const cohere: Provider<CohereOptions> = {
  slug: 'cohere',
  name: 'Cohere',
  optionsClass: CohereOptions,
  key: 'required',
  checkOptions: (_options, key) => keyProblems('required', key),
  address(request, credential) {
    const url = joinUrl(baseUrl(credential.options, 'https://api.cohere.com'), request);
    return buildRequest(url, request, bearer(credential));
  },
  // Cohere's own status for an invalid token.
  credentialStatuses: [498],
  // Listing models is free and needs a valid key.
  probe: { request: { method: 'GET', path: '/v1/models', query: { page_size: '1' } }, accepts: [200] },
};
