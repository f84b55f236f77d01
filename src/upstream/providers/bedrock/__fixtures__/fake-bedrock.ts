import { GatewayError } from '../../../common/errors/gateway.error.js';
import type { JsonObject } from '../../../common/json/read.js';
import type { Credential, ProviderRequest } from '../../../upstream/providers/provider.types.js';
import type { OperationInput, ResourceProvider } from '../operation.types.js';

interface FakeBedrockOptions {
  readonly listPath: string;
  readonly listField: string;
  readonly jobPath: string;
  /** Newest first. */
  readonly jobs?: readonly JsonObject[];
  /** Most jobs on a page, whatever is asked for. */
  readonly pageSize?: number;
  /** The errors to throw, by method and path. */
  readonly failures?: Readonly<Record<string, GatewayError>>;
  /** ARN that a new job gets. */
  readonly newArn?: string;
}

/** Bedrock's job calls, as far as its reference tells: pages by tokens, jobs by ARN, an empty answer to a stop. */
export class FakeBedrock {
  readonly asked: ProviderRequest[] = [];

  constructor(private readonly options: FakeBedrockOptions) {}

  readonly ask = async (request: ProviderRequest): Promise<unknown> => {
    this.asked.push(request);
    const failure = this.options.failures?.[`${request.method} ${decodeURIComponent(request.path)}`];
    if (failure !== undefined) throw failure;
    return this.answer(request);
  };

  private answer({ method, path, query = {} }: ProviderRequest): unknown {
    const { listPath, jobPath, newArn, jobs = [] } = this.options;
    if (method === 'GET' && path === listPath) return this.page(query);
    if (method === 'POST' && !path.endsWith('/stop')) return { jobArn: newArn };
    if (method === 'POST') return {};
    const arn = decodeURIComponent(path.slice(jobPath.length + 1));
    const job = jobs.find(({ jobArn }) => jobArn === arn);
    if (job === undefined) throw new GatewayError('provider_rejected', { status: 404 });
    return job;
  }

  private page(query: Readonly<Record<string, string>>): JsonObject {
    const { listField, jobs = [], pageSize = 1_000 } = this.options;
    const start = Number(query['nextToken']?.slice('token '.length) ?? 0);
    const end = start + Math.min(Number(query['maxResults']), pageSize);
    return { [listField]: jobs.slice(start, end), ...(end < jobs.length ? { nextToken: `token ${end}` } : {}) };
  }
}

/** Runs an operation of a mapped provider with a virtual key that has these options. */
export function runner(provider: ResourceProvider & { readonly kind: 'mapped' }, bedrock: FakeBedrock) {
  return (operation: string, input: Partial<OperationInput> = {}, options: object = {}): Promise<JsonObject> => {
    const credential: Credential = { key: undefined, options, organisationId: 'org' };
    const run = provider.operations[operation];
    if (run === undefined) throw new Error(`no operation ${operation}`);
    return run({ params: {}, query: {}, body: undefined, ...input }, bedrock.ask, credential);
  };
}
