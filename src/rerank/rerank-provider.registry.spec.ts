import { describe, expect, it } from '@jest/globals';
import { RERANK_PROVIDERS_BY_SLUG } from './rerank-provider.registry.js';

describe('RERANK_PROVIDERS_BY_SLUG', () => {
  it('finds a rerank provider by its slug', () => {
    expect(RERANK_PROVIDERS_BY_SLUG.get('cohere')?.slug).toBe('cohere');
    expect(RERANK_PROVIDERS_BY_SLUG.get('local')?.kind).toBe('in_process');
  });

  it.each(['openai', 'Cohere', '', 'constructor'])('has no rerank provider for %j', (slug) => {
    expect(RERANK_PROVIDERS_BY_SLUG.get(slug)).toBeUndefined();
  });
});
