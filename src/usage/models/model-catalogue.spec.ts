import { describe, expect, it } from '@jest/globals';
import { modelFacts } from './model-catalogue.js';

describe('modelFacts', () => {
  it('returns the context window and the modalities of a model, with source and day', () => {
    expect(modelFacts('cohere', 'rerank-v3.5')).toEqual({
      contextWindow: 4_096,
      maxOutput: 0,
      inputModalities: ['text'],
      outputModalities: [],
      source: expect.stringMatching(/^https:/),
      readOn: '2026-11-21',
    });
  });

  it.each([
    ['cohere', 'Rerank-V3.5', 4_096],
    ['azure-ai', 'Cohere-rerank-v4.0-pro', 32_768],
    ['openai', 'gpt-4o-mini-2024-07-18', 128_000],
    ['openai', 'text-embedding-3-large', 8_191],
    ['bedrock', 'arn:aws:bedrock:eu-central-1::foundation-model/cohere.rerank-v3-5:0', 32_000],
  ] as const)('finds %s %s by each of its names', (provider, model, contextWindow) => {
    expect(modelFacts(provider, model)).toMatchObject({ contextWindow });
  });

  it.each([
    ['cohere', 'rerank-v9'],
    ['voyage', 'rerank-v3.5'],
    ['openai', 'toString'],
    ['cohere', 'constructor'],
  ] as const)('has no facts about %s %s', (provider, model) => {
    expect(modelFacts(provider, model)).toBeUndefined();
  });
});
