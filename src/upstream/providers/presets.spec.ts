import { describe, expect, it } from '@jest/globals';
import { credentialHeaders, urlOf } from './__fixtures__/credentials.js';
import { PRESET_PROVIDERS } from './presets.js';
import type { DialectSlug, Provider } from './provider.types.js';

function preset(slug: string): Provider<object> {
  const found = PRESET_PROVIDERS.find((provider) => provider.slug === slug);
  if (found === undefined) throw new Error(`no preset ${slug}`);
  return found;
}

function pathOf(provider: Provider<object>, dialect: DialectSlug): string | undefined {
  return provider.dialects?.[dialect]?.('m', {}, false);
}

describe('a preset', () => {
  it.each([
    ['gemini', 'openai-chat', 'https://generativelanguage.googleapis.com/v1beta/openai/chat/completions'],
    ['groq', 'openai-responses', 'https://api.groq.com/openai/v1/responses'],
    ['mistral', 'openai-embeddings', 'https://api.mistral.ai/v1/embeddings'],
    ['deepseek', 'openai-chat', 'https://api.deepseek.com/chat/completions'],
    ['deepseek', 'anthropic-messages', 'https://api.deepseek.com/anthropic/v1/messages'],
    ['moonshot', 'openai-chat', 'https://api.moonshot.ai/v1/chat/completions'],
    ['moonshot', 'anthropic-messages', 'https://api.moonshot.ai/anthropic/v1/messages'],
    ['xai', 'openai-chat', 'https://api.x.ai/v1/chat/completions'],
    ['together', 'openai-completions', 'https://api.together.xyz/v1/completions'],
    ['fireworks', 'anthropic-messages', 'https://api.fireworks.ai/inference/v1/messages'],
    ['openrouter', 'anthropic-messages', 'https://openrouter.ai/api/v1/messages'],
    ['ollama', 'openai-chat', 'http://127.0.0.1:11434/v1/chat/completions'],
    ['vllm', 'openai-embeddings', 'http://127.0.0.1:8000/v1/embeddings'],
    ['lm-studio', 'openai-chat', 'http://127.0.0.1:1234/v1/chat/completions'],
  ] as const)('of %s speaks %s at %s', (slug, dialect, url) => {
    const provider = preset(slug);
    expect(urlOf(provider, {}, { path: pathOf(provider, dialect) ?? '' })).toBe(url);
  });

  it('is called at the address of its virtual key where that has one', () => {
    const path = pathOf(preset('ollama'), 'openai-chat') ?? '';
    expect(urlOf(preset('ollama'), { base_url: 'http://gpu:1/v1' }, { path })).toBe('http://gpu:1/v1/chat/completions');
  });

  it('has no dialect that its provider does not speak', () => {
    expect(pathOf(preset('mistral'), 'openai-responses')).toBeUndefined();
    expect(pathOf(preset('groq'), 'anthropic-messages')).toBeUndefined();
  });

  it('sends the key as a bearer token, and none where there is none', () => {
    expect(credentialHeaders(preset('groq'), {}, 'k')).toEqual({ authorization: 'Bearer k' });
    expect(credentialHeaders(preset('vllm'), {})).toEqual({});
  });
});
