// Provider P4. Source: https://github.com/pinecone-io/pinecone-api/blob/main/2026-04/inference_2026-04.oas.yaml, read 2026-11-21.
import { Matches } from 'class-validator';
import { buildRequest, headerKey, baseUrl, joinUrl } from './build-request.js';
import { Optional } from '../../common/validation/optional.decorator.js';
import { keyProblems } from './option-rules.js';
import { ProviderOptions } from './provider-options.js';
import type { Provider } from './provider.types.js';

/** Pinecone refuses requests without a version, and supports each version for at least a year after the next. */
export const PINECONE_API_VERSION = '2026-04';

export class PineconeOptions extends ProviderOptions {
  /** Value of the header `X-Pinecone-Api-Version`, for example 2026-04. */
  @Optional()
  @Matches(/^[0-9a-z.-]{1,20}$/, { message: '$property must be a version such as 2026-04' })
  readonly api_version?: string;
}

export const pinecone: Provider<PineconeOptions> = {
  slug: 'pinecone',
  name: 'Pinecone',
  optionsClass: PineconeOptions,
  key: 'required',
  checkOptions: (_options, key) => keyProblems('required', key),
  address(request, credential) {
    const { options } = credential;
    return buildRequest(joinUrl(baseUrl(options, 'https://api.pinecone.io'), request), request, {
      'api-key': headerKey(credential),
      'x-pinecone-api-version': options.api_version ?? PINECONE_API_VERSION,
    });
  },
  // Listing models is free and needs a valid key.
  probe: { request: { method: 'GET', path: '/models', query: { type: 'rerank' } }, accepts: [200] },
};
