import { describe, expect, it } from '@jest/globals';
import { credentialHeaders, urlOf } from './__fixtures__/credentials.js';
import { cohere } from './cohere.provider.js';

describe('cohere', () => {
  it('uses the documented address, with or without a version in the base URL', () => {
    expect(urlOf(cohere, {})).toBe('https://api.cohere.com/v2/rerank');
    expect(urlOf(cohere, { base_url: 'https://api.cohere.com/v2' })).toBe('https://api.cohere.com/v2/rerank');
  });

  it('sends the key as bearer token', () => {
    expect(credentialHeaders(cohere, {}, 'k')).toEqual({ authorization: 'Bearer k' });
  });

  it('tests the key with a list of one model', () => {
    const { probe } = cohere;
    expect(probe && urlOf(cohere, {}, probe.request)).toBe('https://api.cohere.com/v1/models?page_size=1');
  });

  it("knows Cohere's status for an invalid token", () => {
    expect(cohere.credentialStatuses).toContain(498);
  });
});
