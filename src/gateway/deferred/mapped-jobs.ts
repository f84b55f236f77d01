import { isObject, type JsonObject, readArray } from '../../common/json/read.js';
import type { OfferedEndpoints } from '../../upstream/providers/offered-endpoints.js';
import type { ProviderContext } from '../provider-context.decorator.js';
import type { MappedProvider } from '../relay/operation.types.js';
import type { JobReader } from './job-reader.js';

interface MappedPlace {
  /** The endpoint in policies and in the ledger. */
  readonly endpoint: string;
  /** The prefix of the operations: `fine_tuning.jobs`. */
  readonly area: string;
  /** Path parameter that holds the id of a job. */
  readonly idParam: string;
}

/** The jobs of one kind at a provider with another API than OpenAI's. */
export class MappedJobs {
  constructor(
    private readonly reader: JobReader,
    offered: OfferedEndpoints,
    private readonly place: MappedPlace,
    private readonly provider: MappedProvider,
  ) {
    offered.add([{ endpoint: place.endpoint, provider: provider.slug, isMetered: true }]);
  }

  areMeteredAt(provider: string): boolean {
    return provider === this.provider.slug;
  }

  /** Reads a job as the API shows it. */
  retrieve(context: ProviderContext, id: string): Promise<JsonObject> {
    return this.run(context, 'retrieve', { [this.place.idParam]: id }, {});
  }

  /** Newest first. */
  async newest(context: ProviderContext, limit: number): Promise<readonly JsonObject[]> {
    const { data } = await this.run(context, 'list', {}, { limit: String(limit) });
    return readArray(data, 'body.data').filter(isObject);
  }

  private async run(
    context: ProviderContext,
    verb: 'list' | 'retrieve',
    params: Readonly<Record<string, string>>,
    query: Readonly<Record<string, string>>,
  ): Promise<JsonObject> {
    const name = `${this.place.area}.${verb}`;
    const operation = this.provider.operations[name];
    if (operation === undefined) throw new Error(`${this.provider.slug} has no ${name}`);
    const input = { params, query, body: undefined };
    return operation(input, this.reader.ask(context, name), context.virtualKey.credential);
  }
}
