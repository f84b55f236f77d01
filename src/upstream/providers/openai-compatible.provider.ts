// Servers that speak OpenAI's API. Source: https://platform.openai.com/docs/api-reference, read 2026-11-21.
import { bearer, buildRequest, baseUrl, joinUrl, pathPrefix } from './build-request.js';
import { AzureApiVersion, withApiVersion } from './azure-api-version.js';
import { missingOptions } from './option-rules.js';
import { ResourceProviderOptions } from './resource-provider-options.js';
import type { Provider, ProviderRequest } from './provider.types.js';
import {
  API_SUPPORT,
  CAP_FIELDS,
  COST_FIELDS,
  OneOf,
  REASONING_FIELDS,
  type ServerOptions,
  STREAM_USAGE,
} from './server-options.js';

/** Appended to the base URL, unless that already ends in it. */
export const RERANK_PATH = '/rerank';
const MODELS_PATH = '/models';

const RERANK_FORMATS = ['cohere', 'tei'] as const;

export class OpenAiCompatibleOptions extends ResourceProviderOptions {
  /** Query parameter `api-version`, for services of Azure that speak this API; none by default. */
  @AzureApiVersion()
  readonly api_version?: string;

  /**
   * How the server takes rerank requests: with `documents`, as Cohere, vLLM and most others do (`cohere`, the default), or with
   * `texts`, as Text Embeddings Inference does (`tei`).
   */
  @OneOf(RERANK_FORMATS)
  readonly rerank_format?: (typeof RERANK_FORMATS)[number];

  /** `native` (the default): the server takes messages. `translate`: it takes only chats, and messages are translated to them. */
  @OneOf(API_SUPPORT)
  readonly messages?: (typeof API_SUPPORT)[number];

  /** How the server takes responses; see `messages`. */
  @OneOf(API_SUPPORT)
  readonly responses?: (typeof API_SUPPORT)[number];

  /** The field in which the gateway writes the output cap of a chat that has none; `max_tokens` by default. */
  @OneOf(CAP_FIELDS)
  readonly cap_field?: ServerOptions['cap_field'];

  /** `never`: streams are not asked for their usage, since the server fails or reports it anyway. `ask` by default. */
  @OneOf(STREAM_USAGE)
  readonly stream_usage?: ServerOptions['stream_usage'];

  /** Where answers say what they cost in US dollars, as OpenRouter's do: charged instead of the prices. None by default. */
  @OneOf(COST_FIELDS)
  readonly cost_field?: ServerOptions['cost_field'];

  /**
   * The field of the assistant's messages in which the server takes back what its model thought, where messages or responses are
   * translated to chats. Servers of DeepSeek and Kimi demand `reasoning_content`. None by default.
   */
  @OneOf(REASONING_FIELDS)
  readonly reasoning_field?: ServerOptions['reasoning_field'];
}

/**
 * The base URL is the one of an OpenAI SDK, which mostly ends in `/v1`. Paths do not contain it. It may also be the
 * full URL of a reranker, which ends in `/rerank`.
 */
export const openaiCompatible: Provider<OpenAiCompatibleOptions> = {
  slug: 'openai-compatible',
  name: 'OpenAI-compatible',
  optionsClass: OpenAiCompatibleOptions,
  // Servers on a private network often have no key.
  key: 'optional',
  checkOptions: (options) => missingOptions(options, ['base_url']),
  address(request, credential) {
    const { options } = credential;
    const url = addressOf(withApiVersion(request, options.api_version), options);
    return buildRequest(url, request, credential.key === undefined ? {} : bearer(credential));
  },
  dialects: {
    'openai-chat': () => '/chat/completions',
    'openai-completions': () => '/completions',
    'openai-responses': (_model, { responses }) => (responses === 'translate' ? undefined : '/responses'),
    'openai-embeddings': () => '/embeddings',
    'anthropic-messages': (_model, { messages }) => (messages === 'translate' ? undefined : '/messages'),
  },
  hasApiVersion: true,
  hasBetaMessages: true,
  mayLackResponses: true,
  // Free everywhere. A server without keys answers it as well.
  probe: { request: { method: 'GET', path: MODELS_PATH }, accepts: [200] },
};

function addressOf(request: ProviderRequest, options: OpenAiCompatibleOptions): URL {
  // The only route of Text Embeddings Inference that reads its model.
  const path = request.path === MODELS_PATH && options.rerank_format === 'tei' ? '/info' : request.path;
  const base = baseUrl(options);
  const prefix = pathPrefix(base);
  if (!prefix.endsWith(RERANK_PATH)) return joinUrl(base, { ...request, path });
  const server = new URL(base);
  server.pathname = prefix.slice(0, -RERANK_PATH.length);
  return joinUrl(server, { ...request, path });
}
