import { describe, expect, it } from '@jest/globals';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { credentialHeaders, urlOf } from './__fixtures__/credentials.js';
import { openai, OpenAiOptions } from './openai.provider.js';

describe('openai', () => {
  it('uses the documented address, with paths that come without the version', () => {
    expect(urlOf(openai, {}, { path: '/batches' })).toBe('https://api.openai.com/v1/batches');
  });

  it('sends key, organisation and project', () => {
    expect(credentialHeaders(openai, {}, 'sk-k')).toEqual({ authorization: 'Bearer sk-k' });
    expect(credentialHeaders(openai, { organization: 'org-1', project: 'proj_1' }, 'sk-k')).toEqual({
      authorization: 'Bearer sk-k',
      'openai-organization': 'org-1',
      'openai-project': 'proj_1',
    });
  });

  it.each(['', 'a b', 'a\r\nx: y', 7])('refuses the organisation %j', (organization) => {
    expect(validateSync(plainToInstance(OpenAiOptions, { organization }))).toHaveLength(1);
  });

  it('tests the key with a list of models', () => {
    expect(openai.probe && urlOf(openai, {}, openai.probe.request)).toBe('https://api.openai.com/v1/models');
  });
});
