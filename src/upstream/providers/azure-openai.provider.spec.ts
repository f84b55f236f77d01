import { describe, expect, it } from '@jest/globals';
import { credentialHeaders, urlOf } from './__fixtures__/credentials.js';
import { AZURE_OPENAI_API_VERSION, azureOpenai } from './azure-openai.provider.js';

const RESOURCE = 'https://res.openai.azure.com';

describe('azureOpenai', () => {
  it.each([
    ['', '/deployments/my%20gpt/chat/completions'],
    ['/openai', '/deployments/my%20gpt/chat/completions'],
    ['/openai/v1', '/chat/completions'],
  ])('sends chats of a base URL that ends in "%s" to %s', (prefix, path) => {
    expect(azureOpenai.dialects?.['openai-chat']?.('my gpt', { base_url: RESOURCE + prefix }, false)).toBe(path);
    expect(azureOpenai.dialects?.['openai-embeddings']?.('my gpt', { base_url: RESOURCE + prefix }, false)).toBe(
      path.replace('chat/completions', 'embeddings'),
    );
  });

  it.each([
    [{ base_url: RESOURCE }, `${RESOURCE}/openai/batches?api-version=${AZURE_OPENAI_API_VERSION}`],
    [{ base_url: `${RESOURCE}/openai/` }, `${RESOURCE}/openai/batches?api-version=${AZURE_OPENAI_API_VERSION}`],
    [
      { base_url: RESOURCE, api_version: '2025-03-01-preview' },
      `${RESOURCE}/openai/batches?api-version=2025-03-01-preview`,
    ],
    [{ base_url: `${RESOURCE}/openai/v1` }, `${RESOURCE}/openai/v1/batches`],
    [
      { base_url: `${RESOURCE}/openai/v1/`, api_version: 'preview' },
      `${RESOURCE}/openai/v1/batches?api-version=preview`,
    ],
    [
      { base_url: 'https://apim.example/ai' },
      `https://apim.example/ai/openai/batches?api-version=${AZURE_OPENAI_API_VERSION}`,
    ],
  ])('finds the API for %j', (options, url) => {
    expect(urlOf(azureOpenai, options, { path: '/batches' })).toBe(url);
  });

  it('keeps the query of the request', () => {
    const url = urlOf(azureOpenai, { base_url: RESOURCE }, { path: '/batches', query: { limit: '5' } });
    expect(url).toBe(`${RESOURCE}/openai/batches?limit=5&api-version=${AZURE_OPENAI_API_VERSION}`);
  });

  it('sends the key as api-key', () => {
    expect(credentialHeaders(azureOpenai, { base_url: RESOURCE }, 'k')).toEqual({ 'api-key': 'k' });
  });

  it('requires a base URL', () => {
    expect(azureOpenai.checkOptions?.({}, 'k').map((problem) => problem.param)).toEqual(['config.base_url']);
  });
});
