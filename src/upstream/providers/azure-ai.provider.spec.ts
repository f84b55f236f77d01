import { describe, expect, it } from '@jest/globals';
import { credentialHeaders, urlOf } from './__fixtures__/credentials.js';
import { azureAi, AZURE_RERANK_PATH } from './azure-ai.provider.js';

const FOUNDRY = 'https://res.services.ai.azure.com';
const SERVERLESS = 'https://rerank.eastus2.models.ai.azure.com';

describe('azureAi', () => {
  it.each([
    [FOUNDRY, `${FOUNDRY}/providers/cohere/v2/rerank`],
    [`${FOUNDRY}/`, `${FOUNDRY}/providers/cohere/v2/rerank`],
    [`${FOUNDRY}/providers/cohere`, `${FOUNDRY}/providers/cohere/v2/rerank`],
    [`${FOUNDRY}/providers/cohere/v2`, `${FOUNDRY}/providers/cohere/v2/rerank`],
    [`${FOUNDRY}/providers/cohere/v2/rerank`, `${FOUNDRY}/providers/cohere/v2/rerank`],
    [SERVERLESS, `${SERVERLESS}/v2/rerank`],
    [`${SERVERLESS}/v1`, `${SERVERLESS}/v1/rerank`],
    [`${SERVERLESS}/v1/`, `${SERVERLESS}/v1/rerank`],
    [`${SERVERLESS}/v2`, `${SERVERLESS}/v2/rerank`],
    [`${SERVERLESS}/v1/rerank`, `${SERVERLESS}/v1/rerank`],
    ['https://proxy.example/azure', 'https://proxy.example/azure/v2/rerank'],
    ['https://proxy.example//evil.example/rerank', 'https://proxy.example//evil.example/rerank'],
    ['https://services.ai.azure.com.evil.example', 'https://services.ai.azure.com.evil.example/v2/rerank'],
  ])('reranks at the right path below the base URL %s', (base_url, url) => {
    expect(urlOf(azureAi, { base_url }, { path: AZURE_RERANK_PATH })).toBe(url);
  });

  it.each([
    [FOUNDRY, 'openai-chat', `${FOUNDRY}/openai/v1/chat/completions`],
    [`${FOUNDRY}/openai/v1`, 'openai-chat', `${FOUNDRY}/openai/v1/chat/completions`],
    [`${FOUNDRY}/anthropic`, 'openai-embeddings', `${FOUNDRY}/openai/v1/embeddings`],
    [`${FOUNDRY}/openai/v1/`, 'anthropic-messages', `${FOUNDRY}/anthropic/v1/messages`],
    [`${FOUNDRY}/anthropic/v1`, 'anthropic-messages', `${FOUNDRY}/anthropic/v1/messages`],
    [`${FOUNDRY}/providers/cohere/v2`, 'openai-responses', `${FOUNDRY}/openai/v1/responses`],
    ['https://proxy.example/azure', 'openai-chat', 'https://proxy.example/azure/openai/v1/chat/completions'],
    [SERVERLESS, 'openai-chat', `${SERVERLESS}/v1/chat/completions`],
    [`${SERVERLESS}/v1`, 'openai-chat', `${SERVERLESS}/v1/chat/completions`],
  ] as const)('at %s, speaks %s at %s', (base_url, dialect, url) => {
    const path = azureAi.dialects?.[dialect]?.('m', { base_url }, false) ?? '';
    expect(urlOf(azureAi, { base_url }, { path })).toBe(url);
  });

  it('leaves other paths unchanged', () => {
    expect(urlOf(azureAi, { base_url: FOUNDRY }, { path: '/threads/t/runs' })).toBe(`${FOUNDRY}/threads/t/runs`);
  });

  it.each([
    [{ base_url: FOUNDRY }, { 'api-key': 'k' }],
    [{ base_url: FOUNDRY, auth: 'bearer' }, { authorization: 'Bearer k' }],
    [{ base_url: SERVERLESS }, { authorization: 'Bearer k' }],
    [{ base_url: SERVERLESS, auth: 'api-key' }, { 'api-key': 'k' }],
  ] as const)('sends the key as %j requires', (options, headers) => {
    expect(credentialHeaders(azureAi, options, 'k')).toEqual(headers);
  });

  it('requires a base URL', () => {
    expect(azureAi.checkOptions?.({}, 'k')).toEqual([
      { param: 'config.base_url', message: 'config.base_url is required for this provider' },
    ]);
  });

  it('tests the key with an empty body, and reads a complaint about the body as success', () => {
    expect(azureAi.probe).toEqual({
      request: { method: 'POST', path: AZURE_RERANK_PATH, body: {} },
      accepts: [400, 422],
    });
  });
});
