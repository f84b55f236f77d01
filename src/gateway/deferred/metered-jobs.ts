import type { JsonObject } from '../../common/json/read.js';
import type { OfferedEndpoints } from '../../upstream/providers/offered-endpoints.js';
import type { ProviderContext } from '../provider-context.decorator.js';
import type { ResourceProvider } from '../relay/operation.types.js';
import type { JobPlace, JobReader } from './job-reader.js';

interface OfferedPlace extends JobPlace {
  /** The endpoint in policies and in the ledger. */
  readonly endpoint: string;
}

/** The jobs of one kind at providers of OpenAI's API. Others cannot be metered. */
export class MeteredJobs {
  readonly #providers: readonly Extract<ResourceProvider, { readonly kind: 'relay' }>[];

  constructor(
    private readonly reader: JobReader,
    offered: OfferedEndpoints,
    private readonly place: OfferedPlace,
    providers: readonly ResourceProvider[],
  ) {
    this.#providers = providers.filter((provider) => provider.kind === 'relay');
    offered.add(this.#providers.map(({ slug }) => ({ endpoint: place.endpoint, provider: slug, isMetered: true })));
  }

  areMeteredAt(provider: string): boolean {
    return this.#providers.some(({ slug }) => slug === provider);
  }

  /** Reads one job as the API shows it; without an id, the newest ones. */
  async read(context: ProviderContext, upstreamId: string | null): Promise<readonly JsonObject[]> {
    const found = await this.reader.read(context, this.place, upstreamId);
    const provider = this.#providers.find(({ slug }) => slug === context.virtualKey.provider.slug);
    const normalise = provider?.normalise;
    return normalise === undefined ? found : found.map(normalise);
  }
}
