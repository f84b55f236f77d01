import { describe, expect, it } from '@jest/globals';
import { credentialHeaders, urlOf } from './__fixtures__/credentials.js';
import { voyage } from './voyage.provider.js';

const path = '/v1/rerank';

describe('voyage', () => {
  it('uses the documented addresses', () => {
    expect(urlOf(voyage, {}, { path })).toBe('https://api.voyageai.com/v1/rerank');
    for (const base_url of ['https://ai.mongodb.com', 'https://ai.mongodb.com/v1']) {
      expect(urlOf(voyage, { base_url }, { path })).toBe('https://ai.mongodb.com/v1/rerank');
    }
  });

  it('sends the key as bearer token', () => {
    expect(credentialHeaders(voyage, {}, 'pa-k')).toEqual({ authorization: 'Bearer pa-k' });
  });

  it('tests the key with one document of one word', () => {
    expect(voyage.probe?.request).toMatchObject({ method: 'POST', path, body: { query: 'a', documents: ['a'] } });
  });
});
