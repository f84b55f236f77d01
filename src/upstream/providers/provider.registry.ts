import { Inject, Injectable } from '@nestjs/common';
import { PROVIDERS } from './provider-list.js';
import type { Provider } from './provider.types.js';

@Injectable()
export class ProviderRegistry {
  readonly #bySlug: ReadonlyMap<string, Provider>;

  constructor(@Inject(PROVIDERS) providers: readonly Provider[]) {
    this.#bySlug = new Map(providers.map((provider) => [provider.slug, provider]));
  }

  all(): readonly Provider[] {
    return [...this.#bySlug.values()];
  }

  find(slug: string): Provider | undefined {
    return this.#bySlug.get(slug);
  }
}
