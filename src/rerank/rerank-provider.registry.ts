import { Injectable } from '@nestjs/common';
import { RERANK_PROVIDERS } from './rerank-providers.js';
import type { RerankProvider } from './rerank.types.js';

@Injectable()
export class RerankProviderRegistry {
  readonly #bySlug: ReadonlyMap<string, RerankProvider> = new Map(
    RERANK_PROVIDERS.map((provider) => [provider.slug, provider]),
  );

  find(slug: string): RerankProvider | undefined {
    return this.#bySlug.get(slug);
  }
}
