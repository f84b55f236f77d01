// Provider P6, Azure AI Foundry: its OpenAI and Anthropic APIs, and Cohere's rerankers. Source: https://learn.microsoft.com/azure/ai-foundry/how-to/deploy-models-cohere-rerank
// and https://docs.cohere.com/docs/cohere-on-microsoft-azure, read 2026-11-21; for chats and messages
// https://learn.microsoft.com/azure/ai-foundry/foundry-models/concepts/endpoints and
// https://docs.anthropic.com/en/docs/build-with-claude/claude-in-microsoft-foundry, read 2026-11-27.
import { bearer, buildRequest, headerKey, baseUrl, joinUrl, pathPrefix } from './build-request.js';
import { IsIn } from 'class-validator';
import { Optional } from '../../common/validation/optional.decorator.js';
import { BaseModel } from './base-model.js';
import { IsOnDisconnect, type OnDisconnect } from './on-disconnect.js';
import { keyProblems, missingOptions } from './option-rules.js';
import { ProviderOptions } from './provider-options.js';
import type { Credential, ModelNames, Provider, ProviderRequest } from './provider.types.js';

/** Cohere's own path. `address` maps it to the deployment's path. */
export const AZURE_RERANK_PATH = '/v2/rerank';

const AUTH = ['api-key', 'bearer'] as const;

/** The paths of the APIs of a resource. A base URL may end in one of them, and serves all. */
const API = /\/(?:openai(?:\/v1)?|anthropic(?:\/v1)?|providers\/cohere(?:\/v2)?)$/;
const PATH_OF_API = /^\/(?:openai|anthropic)\//;

const PROVIDER_PREFIX = 'cohere.';

export class AzureAiOptions extends ProviderOptions {
  /** How the key is sent: as header `api-key` (default for Foundry resources) or as bearer token (default for serverless deployments). */
  @Optional()
  @IsIn(AUTH)
  readonly auth?: (typeof AUTH)[number];

  /** The model behind the deployments of this virtual key: their calls have its prices, and what it reads and writes at most. */
  @BaseModel()
  readonly base_model?: string;

  /** What becomes of a call whose client leaves: `abort` (default) ends it, `drain` reads it to its end, to know what it costs. */
  @IsOnDisconnect()
  readonly on_disconnect?: OnDisconnect;
}

export const azureAi: Provider<AzureAiOptions> = {
  slug: 'azure-ai',
  name: 'Azure AI Foundry',
  optionsClass: AzureAiOptions,
  key: 'required',
  checkOptions: (options, key) => [...keyProblems('required', key), ...missingOptions(options, ['base_url'])],
  address(request, credential) {
    const base = baseUrl(credential.options);
    const url = request.path === AZURE_RERANK_PATH ? rerankUrl(base) : apiUrl(base, request);
    return buildRequest(url, request, credentialHeaders(base, credential));
  },
  dialects: {
    'openai-chat': (_model, options) => openaiPath(options, '/chat/completions'),
    'openai-responses': (_model, options) => openaiPath(options, '/responses'),
    'openai-embeddings': (_model, options) => openaiPath(options, '/embeddings'),
    'anthropic-messages': () => '/anthropic/v1/messages',
  },
  hasBetaMessages: true,
  hidesReasoning: true,
  refusesMaxTokens: true,
  // Azure checks the key before the body, so an error about the empty body proves that the key is valid, free of
  // charge.
  probe: { request: { method: 'POST', path: AZURE_RERANK_PATH, body: {} }, accepts: [400, 422] },
};

/**
 * `cohere.Cohere-rerank-v4.0-pro` → `Cohere-rerank-v4.0-pro`: removes one prefix, in any letter case. The rest is the
 * deployment's name.
 */
export function azureDeploymentName(model: string): string {
  const isPrefixed = model.slice(0, PROVIDER_PREFIX.length).toLowerCase() === PROVIDER_PREFIX;
  return isPrefixed ? model.slice(PROVIDER_PREFIX.length) : model;
}

/** One prefix is removed before the model is sent. Names with any number of prefixes count as the same deployment. */
export const azureModelNames: ModelNames = {
  canonical: withoutPrefixes,
  aliases: (name) => [{ text: PROVIDER_PREFIX + withoutPrefixes(name), markLength: PROVIDER_PREFIX.length }],
};

function withoutPrefixes(name: string): string {
  let deployment = name;
  // A loop, since a name may be as long as a body, and recursion would overflow the stack.
  for (let next = azureDeploymentName(name); next !== deployment && next !== ''; next = azureDeploymentName(next)) {
    deployment = next;
  }
  return deployment;
}

/**
 * The URL of the deployment's rerank requests, by the form of `base_url`:
 * - ends in `/rerank`: unchanged;
 * - ends in `/v1` or `/v2`: that version (older serverless deployments have only `/v1/rerank`, with the same body);
 * - a Foundry resource (`….services.ai.azure.com`): `/providers/cohere/v2/rerank`;
 * - anything else, a serverless deployment: `/v2/rerank`.
 */
function rerankUrl(base: URL): URL {
  const prefix = pathPrefix(base);
  if (prefix.endsWith('/rerank')) return base;
  if (/\/v[12]$/.test(prefix)) return joinUrl(base, { path: '/rerank' });
  const needsProvider = isFoundry(base) && !prefix.endsWith('/providers/cohere');
  return joinUrl(base, { path: needsProvider ? `/providers/cohere${AZURE_RERANK_PATH}` : AZURE_RERANK_PATH });
}

/** A serverless deployment has OpenAI's API at `/v1`. */
function openaiPath(options: AzureAiOptions, path: string): string {
  return baseUrl(options).hostname.endsWith('.models.ai.azure.com') ? `/v1${path}` : `/openai/v1${path}`;
}

function apiUrl(base: URL, request: ProviderRequest): URL {
  const prefix = pathPrefix(base);
  if (!PATH_OF_API.test(request.path) || !API.test(prefix)) return joinUrl(base, request);
  const resource = new URL(base);
  resource.pathname = prefix.replace(API, '');
  return joinUrl(resource, request);
}

function credentialHeaders(base: URL, credential: Credential<AzureAiOptions>): Readonly<Record<string, string>> {
  const auth = credential.options.auth ?? (isFoundry(base) ? 'api-key' : 'bearer');
  return auth === 'api-key' ? { 'api-key': headerKey(credential) } : bearer(credential);
}

function isFoundry(base: URL): boolean {
  return base.hostname.endsWith('.services.ai.azure.com');
}
