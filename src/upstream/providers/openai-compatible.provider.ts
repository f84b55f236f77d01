// Servers that speak OpenAI's API. Source: https://platform.openai.com/docs/api-reference, read 2026-11-21.
import { bearer, buildRequest, baseUrl, joinUrl } from './build-request.js';
import { AzureApiVersion, withApiVersion } from './azure-api-version.js';
import { missingOptions } from './option-rules.js';
import { ResourceProviderOptions } from './resource-provider-options.js';
import type { Provider } from './provider.types.js';

export class OpenAiCompatibleOptions extends ResourceProviderOptions {
  /** Query parameter `api-version`, for services of Azure that speak this API; none by default. */
  @AzureApiVersion()
  readonly api_version?: string;
}

/** Its base URL is what an OpenAI SDK would be given, which mostly ends in `/v1`; paths come without. */
export const openaiCompatible: Provider<OpenAiCompatibleOptions> = {
  slug: 'openai-compatible',
  name: 'OpenAI-compatible',
  optionsClass: OpenAiCompatibleOptions,
  // Servers on one's own network often have none.
  key: 'optional',
  checkOptions: (options) => missingOptions(options, ['base_url']),
  address(request, credential) {
    const { options } = credential;
    const url = joinUrl(baseUrl(options), withApiVersion(request, options.api_version));
    return buildRequest(url, request, credential.key === undefined ? {} : bearer(credential));
  },
  hasApiVersion: true,
  // Free everywhere; a server that wants no key answers it as well.
  probe: { request: { method: 'GET', path: '/models' }, accepts: [200] },
};
