import { describe, expect, it } from '@jest/globals';
import { credentialWith } from './__fixtures__/credentials.js';
import { local } from './local.provider.js';

describe('local', () => {
  it('has no address to call', () => {
    expect(() => local.address({ method: 'POST', path: '/rerank' }, credentialWith({}))).toThrow(
      expect.objectContaining({ code: 'provider_not_supported' }),
    );
    expect(local.probe).toBeUndefined();
  });
});
