// Azure OpenAI. Source: https://learn.microsoft.com/rest/api/azureopenai/models/list and https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle, read 2026-11-21.
import { buildRequest, headerKey, baseUrl, joinUrl, pathPrefix } from './build-request.js';
import { AzureApiVersion, withApiVersion } from './azure-api-version.js';
import { BaseModel } from './base-model.js';
import { keyProblems, missingOptions } from './option-rules.js';
import { ResourceProviderOptions } from './resource-provider-options.js';
import type { Provider, ProviderRequest } from './provider.types.js';

/** The newest version of the dated API that is not a preview. */
export const AZURE_OPENAI_API_VERSION = '2024-10-21';

export class AzureOpenAiOptions extends ResourceProviderOptions {
  /** Query parameter `api-version`; default 2024-10-21, none when `base_url` ends in /openai/v1. */
  @AzureApiVersion()
  readonly api_version?: string;

  /** The model behind the deployments of this virtual key: their calls have its prices, and what it reads and writes at most. */
  @BaseModel()
  readonly base_model?: string;
}

/**
 * The base URL is the resource (`https://<name>.openai.azure.com`, for the dated API), or the resource with
 * `/openai/v1`.
 */
export const azureOpenai: Provider<AzureOpenAiOptions> = {
  slug: 'azure-openai',
  name: 'Azure OpenAI',
  optionsClass: AzureOpenAiOptions,
  key: 'required',
  checkOptions: (options, key) => [...keyProblems('required', key), ...missingOptions(options, ['base_url'])],
  address(request, credential) {
    const { options } = credential;
    const url = addressOf(baseUrl(options), request, options.api_version);
    return buildRequest(url, request, { 'api-key': headerKey(credential) });
  },
  dialects: {
    'openai-chat': (model, options) => modelPath(model, options, '/chat/completions'),
    'openai-completions': (model, options) => modelPath(model, options, '/completions'),
    // The deployment is in the body in both APIs.
    'openai-responses': () => '/responses',
    'openai-embeddings': (model, options) => modelPath(model, options, '/embeddings'),
  },
  hidesReasoning: true,
  refusesMaxTokens: true,
  hasApiVersion: true,
  // Listing models is free and needs a valid key.
  probe: { request: { method: 'GET', path: '/models' }, accepts: [200] },
};

/** The dated API has a path for each deployment. The other one reads the deployment from the body. */
function modelPath(model: string, options: AzureOpenAiOptions, path: string): string {
  return isDated(baseUrl(options)) ? `/deployments/${encodeURIComponent(model)}${path}` : path;
}

function isDated(base: URL): boolean {
  return !pathPrefix(base).endsWith('/openai/v1');
}

function addressOf(base: URL, request: ProviderRequest, apiVersion: string | undefined): URL {
  const prefix = pathPrefix(base);
  const dated = isDated(base);
  const version = apiVersion ?? (dated ? AZURE_OPENAI_API_VERSION : undefined);
  const path = dated && !prefix.endsWith('/openai') ? `/openai${request.path}` : request.path;
  return joinUrl(base, withApiVersion({ ...request, path }, version));
}
