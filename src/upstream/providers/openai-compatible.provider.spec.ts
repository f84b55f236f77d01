import { describe, expect, it } from '@jest/globals';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { credentialHeaders, urlOf } from './__fixtures__/credentials.js';
import { openaiCompatible, OpenAiCompatibleOptions } from './openai-compatible.provider.js';

const base_url = 'https://models.example/openai/v1';

describe('openaiCompatible', () => {
  it('appends the path to the base URL that an SDK would use', () => {
    expect(urlOf(openaiCompatible, { base_url }, { path: '/batches' })).toBe(`${base_url}/batches`);
  });

  it.each([
    [base_url, '/rerank', `${base_url}/rerank`],
    ['http://tei.example:8080', '/rerank', 'http://tei.example:8080/rerank'],
    ['https://models.example/v1/rerank', '/rerank', 'https://models.example/v1/rerank'],
    ['https://models.example/v1/rerank/', '/rerank', 'https://models.example/v1/rerank'],
    ['https://models.example/rerank', '/rerank', 'https://models.example/rerank'],
    ['https://models.example/v1/rerank', '/models', 'https://models.example/v1/models'],
    ['https://models.example/v1/not-rerank', '/rerank', 'https://models.example/v1/not-rerank/rerank'],
  ])('makes of %s and %s the address %s', (base, path, expected) => {
    expect(urlOf(openaiCompatible, { base_url: base }, { path })).toBe(expected);
  });

  it('tests a server of Text Embeddings Inference by its own address', () => {
    const options = { base_url: 'http://tei.example:8080/rerank', rerank_format: 'tei' } as const;
    expect(openaiCompatible.probe && urlOf(openaiCompatible, options, openaiCompatible.probe.request)).toBe(
      'http://tei.example:8080/info',
    );
    expect(validateSync(plainToInstance(OpenAiCompatibleOptions, { base_url, rerank_format: 'jina' }))).toHaveLength(1);
  });

  it('sends the version of an Azure API', () => {
    const project = 'https://hub.services.ai.azure.com/api/projects/hr';
    const request = { path: '/threads/t-1/runs', query: { limit: '2' } };
    expect(urlOf(openaiCompatible, { base_url: project, api_version: 'v1' }, request)).toBe(
      `${project}/threads/t-1/runs?limit=2&api-version=v1`,
    );
  });

  it.each(['', 'v 1', 'v1&limit=3', 1])('refuses the version %j', (api_version) => {
    expect(validateSync(plainToInstance(OpenAiCompatibleOptions, { base_url, api_version }))).toHaveLength(1);
  });

  it('sends the key when there is one', () => {
    expect(credentialHeaders(openaiCompatible, { base_url }, 'k')).toEqual({ authorization: 'Bearer k' });
    expect(credentialHeaders(openaiCompatible, { base_url })).toEqual({});
  });

  it('requires a base URL, and no key', () => {
    expect(openaiCompatible.checkOptions?.({}, undefined).map((problem) => problem.param)).toEqual(['config.base_url']);
    expect(openaiCompatible.checkOptions?.({ base_url }, undefined)).toEqual([]);
  });
});
