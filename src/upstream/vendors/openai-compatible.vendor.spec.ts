import { describe, expect, it } from '@jest/globals';
import { credentialHeaders, urlOf } from './__fixtures__/credentials.js';
import { openaiCompatible } from './openai-compatible.vendor.js';

const base_url = 'https://models.example/openai/v1';

describe('openaiCompatible', () => {
  it('appends the path to what an SDK would be given', () => {
    expect(urlOf(openaiCompatible, { base_url }, { path: '/batches' })).toBe(`${base_url}/batches`);
  });

  it('sends a key when there is one', () => {
    expect(credentialHeaders(openaiCompatible, { base_url }, 'k')).toEqual({ authorization: 'Bearer k' });
    expect(credentialHeaders(openaiCompatible, { base_url })).toEqual({});
  });

  it('needs a base URL, and no key', () => {
    expect(openaiCompatible.checkOptions?.({}, undefined).map((problem) => problem.param)).toEqual(['config.base_url']);
    expect(openaiCompatible.checkOptions?.({ base_url }, undefined)).toEqual([]);
  });

  it.each([{ error: { message: 'no' } }, { error: 'no' }, { detail: 'no' }, { message: 'no' }])(
    'reads the error %j',
    (body) => {
      expect(openaiCompatible.readError(body)).toEqual({ message: 'no' });
    },
  );
});
