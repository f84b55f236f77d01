import { describe, expect, it } from '@jest/globals';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { credentialHeaders, urlOf } from './__fixtures__/credentials.js';
import { pinecone, PINECONE_API_VERSION, PineconeOptions } from './pinecone.provider.js';

describe('pinecone', () => {
  it('uses the documented address', () => {
    expect(urlOf(pinecone, {}, { path: '/rerank' })).toBe('https://api.pinecone.io/rerank');
  });

  it("sends key and version in Pinecone's own headers", () => {
    expect(credentialHeaders(pinecone, {}, 'pcsk_k')).toEqual({
      'api-key': 'pcsk_k',
      'x-pinecone-api-version': PINECONE_API_VERSION,
    });
  });

  it('sends another version', () => {
    expect(credentialHeaders(pinecone, { api_version: '2025-10' }, 'k')).toMatchObject({
      'x-pinecone-api-version': '2025-10',
    });
  });

  it.each(['', '2026 04', '2026-04\r\nx: y', 7])('refuses the version %j', (api_version) => {
    expect(validateSync(plainToInstance(PineconeOptions, { api_version }))).toHaveLength(1);
  });

  it('tests the key with a list of models', () => {
    expect(pinecone.probe && urlOf(pinecone, {}, pinecone.probe.request)).toBe(
      'https://api.pinecone.io/models?type=rerank',
    );
  });
});
