import { GatewayError } from '../../../../common/errors/gateway.error.js';
import type { JsonObject } from '../../../../common/json/read.js';
import type { ProviderRequest } from '../../provider.types.js';

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

/** Bedrock's job calls, as its reference describes them: pages by tokens, jobs by ARN, an empty answer to a stop. */
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

  private page({ nextToken, maxResults }: NonNullable<ProviderRequest['query']>): JsonObject {
    const { listField, jobs = [], pageSize = 1_000 } = this.options;
    const start = typeof nextToken === 'string' ? Number(nextToken.slice('token '.length)) : 0;
    const end = start + Math.min(Number(maxResults), pageSize);
    return { [listField]: jobs.slice(start, end), ...(end < jobs.length ? { nextToken: `token ${end}` } : {}) };
  }
}
