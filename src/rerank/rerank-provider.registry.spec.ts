import { describe, expect, it } from '@jest/globals';
import { RerankProviderRegistry } from './rerank-provider.registry.js';

describe('RerankProviderRegistry', () => {
  const registry = new RerankProviderRegistry();

  it('finds a rerank provider by its slug', () => {
    expect(registry.find('cohere')?.slug).toBe('cohere');
    expect(registry.find('local')?.kind).toBe('in_process');
  });

  it.each(['openai', 'Cohere', '', 'constructor'])('has no rerank provider for %j', (slug) => {
    expect(registry.find(slug)).toBeUndefined();
  });
});
