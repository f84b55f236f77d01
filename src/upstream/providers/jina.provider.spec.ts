import { describe, expect, it } from '@jest/globals';
import { credentialHeaders, urlOf } from './__fixtures__/credentials.js';
import { jina } from './jina.provider.js';

const path = '/v1/rerank';

describe('jina', () => {
  it('uses the documented address', () => {
    expect(urlOf(jina, {}, { path })).toBe('https://api.jina.ai/v1/rerank');
  });

  it('sends the key as bearer token', () => {
    expect(credentialHeaders(jina, {}, 'jina_k')).toEqual({ authorization: 'Bearer jina_k' });
  });

  it('tests the key with one document of one word', () => {
    expect(jina.probe?.request).toMatchObject({ method: 'POST', path, body: { query: 'a', documents: ['a'] } });
  });
});
