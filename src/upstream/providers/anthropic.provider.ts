// Anthropic. Source: https://docs.anthropic.com/en/api/overview and …/api/versioning, read 2026-11-26.
import { baseUrl, buildRequest, headerKey, joinUrl } from './build-request.js';
import { IsOnDisconnect, type OnDisconnect } from './on-disconnect.js';
import { keyProblems } from './option-rules.js';
import { ProviderOptions } from './provider-options.js';
import type { Provider } from './provider.types.js';

/** Every request must name a version. This is the default. */
export const ANTHROPIC_VERSION = { 'anthropic-version': '2023-06-01' } as const;

export class AnthropicOptions extends ProviderOptions {
  /** What becomes of a call whose client leaves: `abort` (default) ends it, `drain` reads it to its end, to know what it costs. */
  @IsOnDisconnect()
  readonly on_disconnect?: OnDisconnect;
}

/** The base URL may end in `/v1`. Foundry's is `https://<resource>.services.ai.azure.com/anthropic`. */
export const anthropic: Provider<AnthropicOptions> = {
  slug: 'anthropic',
  name: 'Anthropic',
  optionsClass: AnthropicOptions,
  key: 'required',
  checkOptions: (_options, key) => keyProblems('required', key),
  address(request, credential) {
    const url = joinUrl(baseUrl(credential.options, 'https://api.anthropic.com'), request);
    return buildRequest(url, request, { 'x-api-key': headerKey(credential) });
  },
  dialects: { 'anthropic-messages': () => '/v1/messages' },
  hasBetaMessages: true,
  // Listing models is free and needs a valid key.
  probe: {
    request: { method: 'GET', path: '/v1/models', query: { limit: '1' }, headers: ANTHROPIC_VERSION },
    accepts: [200],
  },
};
