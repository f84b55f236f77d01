import { describe, expect, it } from '@jest/globals';
import { encodingOf } from './encodings.js';

describe('encodingOf', () => {
  it.each([
    ['openai', 'gpt-4o-mini-2024-07-18', 'o200k_base'],
    ['openai', 'gpt-4.1', 'o200k_base'],
    ['openai', 'gpt-5', 'o200k_base'],
    ['openai', 'gpt-5.6-terra', 'o200k_base'],
    ['openai', 'o4-mini', 'o200k_base'],
    ['azure-openai', 'GPT-4o', 'o200k_base'],
    ['openai', 'ft:gpt-4o-mini-2024-07-18:acme::abc', 'o200k_base'],
    ['openai', 'gpt-4-turbo', 'cl100k_base'],
    ['azure-openai', 'gpt-35-turbo', 'cl100k_base'],
    ['azure-ai', 'text-embedding-3-large', 'cl100k_base'],
  ] as const)('knows that of %s %s', (provider, model, encoding) => {
    expect(encodingOf(provider, model)).toBe(encoding);
  });

  it.each([
    ['openai', 'gpt-6'],
    ['openai', 'gpt-5.7'],
    ['openai', 'gpt-50'],
    ['openai', 'gpt-4ox'],
    ['openai', 'o5'],
    ['openai', 'my-gpt-4o'],
    ['openai', 'ft:'],
    // Anyone may call a model so.
    ['openai-compatible', 'gpt-4o'],
    ['anthropic', 'claude-sonnet-5'],
    ['gemini', 'gemini-3-pro'],
  ] as const)('does not guess that of %s %s', (provider, model) => {
    expect(encodingOf(provider, model)).toBeUndefined();
  });
});
