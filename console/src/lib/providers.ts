import type { Provider } from '../api/types.gen';

/** All providers with their names. */
export const PROVIDERS: Readonly<Record<Provider, string>> = {
  anthropic: 'Anthropic',
  'azure-ai': 'Azure AI',
  'azure-openai': 'Azure OpenAI',
  bedrock: 'AWS Bedrock',
  cohere: 'Cohere',
  deepseek: 'DeepSeek',
  fireworks: 'Fireworks',
  gemini: 'Google Gemini',
  groq: 'Groq',
  jina: 'Jina AI',
  'lm-studio': 'LM Studio',
  local: 'Built-in reranker',
  mistral: 'Mistral',
  moonshot: 'Moonshot',
  ollama: 'Ollama',
  openai: 'OpenAI',
  'openai-compatible': 'Compatible with OpenAI',
  openrouter: 'OpenRouter',
  pinecone: 'Pinecone',
  together: 'Together',
  vertex: 'Google Vertex AI',
  vllm: 'vLLM',
  voyage: 'Voyage AI',
  xai: 'xAI',
};

export function isProvider(text: string | undefined): text is Provider {
  return text !== undefined && text in PROVIDERS;
}

/** The name of a provider; an unknown one as it is. */
export function providerName(slug: string): string {
  return isProvider(slug) ? PROVIDERS[slug] : slug;
}
