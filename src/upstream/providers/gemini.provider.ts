// Gemini's own API. Source: https://ai.google.dev/api, read 2026-11-28.
import { baseUrl, buildRequest, headerKey, joinUrl } from './build-request.js';
import { ResourceProviderOptions } from './resource-provider-options.js';
import { API_SUPPORT, OneOf, type ServerOptions } from './server-options.js';
import type { BaseProviderOptions, DialectPath, DialectSlug, Provider } from './provider.types.js';

const ADDRESS = 'https://generativelanguage.googleapis.com';
const MODELS = '/v1beta/models/';
/** Matches the end of the OpenAI-compatible base URL, or of one that names the version. */
const AT_THE_END = /(?:\/v1(?:beta)?)?(?:\/openai)?\/*$/;

const DIALECTS = {
  gemini: (model, _options, isStream) => `${pathOf(model)}:${isStream ? 'streamGenerateContent' : 'generateContent'}`,
  'gemini-token-count': (model) => `${pathOf(model)}:countTokens`,
  'gemini-embeddings': (model) => pathOf(model),
} satisfies Partial<Record<DialectSlug, DialectPath<BaseProviderOptions>>>;

export class GeminiOptions extends ResourceProviderOptions {
  /** How chats are sent: in OpenAI's form (`native`, the default), or translated to Gemini's own API (`translate`). */
  @OneOf(API_SUPPORT)
  readonly chats?: ServerOptions['chats'];
}

/** Adds Gemini's own API to the provider of its OpenAI-compatible API. */
export function withGeminiApi(provider: Provider<ResourceProviderOptions>): Provider<GeminiOptions> {
  return {
    ...provider,
    optionsClass: GeminiOptions,
    address(request, credential) {
      if (!request.path.startsWith(MODELS)) return provider.address(request, credential);
      const url = joinUrl(ownAddress(credential.options), request);
      return buildRequest(url, request, { 'x-goog-api-key': headerKey(credential) });
    },
    dialects: { ...provider.dialects, ...DIALECTS },
  };
}

function ownAddress(options: BaseProviderOptions): URL {
  return baseUrl({ base_url: baseUrl(options, ADDRESS).href.replace(AT_THE_END, '') });
}

function pathOf(model: string): string {
  return MODELS + encodeURIComponent(model);
}
