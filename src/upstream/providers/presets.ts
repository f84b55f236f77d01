// Providers that consist of a base URL of OpenAI's API and a few flags. Sources, read 2026-11-27:
// https://console.groq.com/docs/openai, https://docs.mistral.ai/api, https://api-docs.deepseek.com,
// https://docs.x.ai/docs/api-reference, https://docs.together.ai/reference, https://docs.fireworks.ai/api-reference,
// https://docs.fireworks.ai/tools-sdks/anthropic-compatibility, https://platform.kimi.ai/docs/api/overview,
// https://openrouter.ai/docs/api-reference, https://ai.google.dev/gemini-api/docs/openai,
// https://docs.ollama.com/api/openai-compatibility, https://docs.vllm.ai/en/stable/serving/openai_compatible_server,
// https://lmstudio.ai/docs/developer/openai-compat
import { baseUrl, bearer, buildRequest, joinUrl } from './build-request.js';
import { withGeminiApi } from './gemini.provider.js';
import { keyProblems } from './option-rules.js';
import { ResourceProviderOptions } from './resource-provider-options.js';
import type { DialectSlug, Provider, ProviderSlug } from './provider.types.js';

/** A virtual key's own base URL takes precedence, as for every provider. */
export class PresetOptions extends ResourceProviderOptions {}

interface Preset {
  readonly slug: ProviderSlug;
  readonly name: string;
  /** The default base URL; for self-hosted servers, their default port on this machine. */
  readonly base: string;
  readonly key: 'required' | 'optional';
  readonly dialects: readonly DialectSlug[];
  /** Paths of dialects that differ from the common ones. */
  readonly paths?: Readonly<Partial<Record<DialectSlug, string>>>;
  readonly hidesReasoning?: true;
  readonly reportsStreamUsage?: true;
  readonly costField?: 'usage.cost';
  readonly reasoningField?: 'reasoning_content';
  /** Adds the provider's own API. */
  readonly more?: (provider: Provider<PresetOptions>) => Provider<PresetOptions>;
  /** A free read that needs a valid key. */
  readonly probe?: string;
}

const PATHS: Readonly<Partial<Record<DialectSlug, string>>> = {
  'openai-chat': '/chat/completions',
  'openai-completions': '/completions',
  'openai-responses': '/responses',
  'openai-embeddings': '/embeddings',
  'anthropic-messages': '/messages',
};
const MODELS_PATH = '/models';

const EVERY_DIALECT: readonly DialectSlug[] = [
  'openai-chat',
  'openai-completions',
  'openai-responses',
  'openai-embeddings',
  'anthropic-messages',
];

const PRESETS: readonly Preset[] = [
  {
    slug: 'gemini',
    name: 'Google Gemini',
    base: 'https://generativelanguage.googleapis.com/v1beta/openai',
    key: 'required',
    dialects: ['openai-chat', 'openai-embeddings'],
    hidesReasoning: true,
    more: withGeminiApi,
  },
  {
    slug: 'groq',
    name: 'Groq',
    base: 'https://api.groq.com/openai/v1',
    key: 'required',
    dialects: ['openai-chat', 'openai-responses'],
    // `reasoning_format: "hidden"`
    hidesReasoning: true,
  },
  {
    slug: 'mistral',
    name: 'Mistral AI',
    base: 'https://api.mistral.ai/v1',
    key: 'required',
    dialects: ['openai-chat', 'openai-embeddings'],
    reportsStreamUsage: true,
  },
  {
    slug: 'deepseek',
    name: 'DeepSeek',
    base: 'https://api.deepseek.com',
    key: 'required',
    dialects: ['openai-chat', 'anthropic-messages'],
    paths: { 'anthropic-messages': '/anthropic/v1/messages' },
    // Refuses tool calls without the reasoning before them: api-docs.deepseek.com/guides/thinking_mode
    reasoningField: 'reasoning_content',
  },
  {
    slug: 'moonshot',
    name: 'Moonshot AI',
    base: 'https://api.moonshot.ai',
    key: 'required',
    dialects: ['openai-chat', 'openai-responses', 'anthropic-messages'],
    paths: {
      'openai-chat': '/v1/chat/completions',
      'openai-responses': '/v1/responses',
      'anthropic-messages': '/anthropic/v1/messages',
    },
    probe: '/v1/models',
  },
  {
    slug: 'xai',
    name: 'xAI',
    base: 'https://api.x.ai/v1',
    key: 'required',
    dialects: ['openai-chat', 'openai-responses'],
    hidesReasoning: true,
  },
  {
    slug: 'together',
    name: 'Together AI',
    base: 'https://api.together.xyz/v1',
    key: 'required',
    dialects: ['openai-chat', 'openai-completions', 'openai-embeddings'],
  },
  {
    slug: 'fireworks',
    name: 'Fireworks AI',
    base: 'https://api.fireworks.ai/inference/v1',
    key: 'required',
    dialects: EVERY_DIALECT,
  },
  {
    slug: 'openrouter',
    name: 'OpenRouter',
    base: 'https://openrouter.ai/api/v1',
    key: 'required',
    dialects: EVERY_DIALECT,
    hidesReasoning: true,
    costField: 'usage.cost',
    // OpenRouter lists its models without a key.
    probe: '/key',
  },
  {
    slug: 'ollama',
    name: 'Ollama',
    base: 'http://127.0.0.1:11434/v1',
    key: 'optional',
    dialects: EVERY_DIALECT,
  },
  {
    slug: 'vllm',
    name: 'vLLM',
    base: 'http://127.0.0.1:8000/v1',
    key: 'optional',
    dialects: EVERY_DIALECT,
  },
  {
    slug: 'lm-studio',
    name: 'LM Studio',
    base: 'http://127.0.0.1:1234/v1',
    key: 'optional',
    dialects: EVERY_DIALECT,
  },
];

export const PRESET_PROVIDERS: readonly Provider<PresetOptions>[] = PRESETS.map(toProvider);

function toProvider({ base, dialects, paths, more, probe = MODELS_PATH, ...preset }: Preset): Provider<PresetOptions> {
  const provider: Provider<PresetOptions> = {
    ...preset,
    optionsClass: PresetOptions,
    checkOptions: (_options, key) => keyProblems(preset.key, key),
    address(request, credential) {
      const url = joinUrl(baseUrl(credential.options, base), request);
      return buildRequest(url, request, credential.key === undefined ? {} : bearer(credential));
    },
    hasBetaMessages: true,
    dialects: Object.fromEntries(dialects.map((dialect) => [dialect, () => paths?.[dialect] ?? PATHS[dialect]])),
    probe: { request: { method: 'GET', path: probe }, accepts: [200] },
  };
  return more?.(provider) ?? provider;
}
