import { Injectable } from '@nestjs/common';
import { isObject, type JsonObject, readArray, readObject } from '../../common/json/read.js';
import { parseProviderJson, parseProviderResult } from '../../upstream/provider-error.js';
import type { Ask } from '../../upstream/providers/provider.types.js';
import { ProviderCallService } from '../provider-call.service.js';
import type { ProviderContext } from '../provider-context.decorator.js';

const NEWEST = { limit: '100' } as const;

/** The path of one kind of object at providers of OpenAI's API. */
export interface JobPlace {
  /** The path of the list. */
  readonly path: string;
  /** The prefix of the operations: `fine_tuning.jobs`. */
  readonly area: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Reads jobs at providers that speak OpenAI's API. */
@Injectable()
export class JobReader {
  constructor(private readonly calls: ProviderCallService) {}

  /**
   * Returns a function that calls a provider with another API.
   * @param operation in traces
   */
  ask(context: ProviderContext, operation: string): Ask {
    return async (request) => {
      const answer = await this.calls.run(context, { operation, model: undefined, request, retry: 'idempotent' });
      return parseProviderJson(answer);
    };
  }

  /** Reads one job; without an id, the newest ones. */
  async read(
    context: ProviderContext,
    { path, area, headers }: JobPlace,
    upstreamId: string | null,
  ): Promise<readonly JsonObject[]> {
    const isList = upstreamId === null;
    const request = {
      method: 'GET',
      path: isList ? path : `${path}/${encodeURIComponent(upstreamId)}`,
      query: isList ? NEWEST : {},
      headers: { ...headers, ...context.account },
      bytes: undefined,
    } as const;
    const operation = `${area}.${isList ? 'list' : 'retrieve'}`;
    const answer = await this.calls.run(context, { operation, model: undefined, request, retry: 'idempotent' });
    const json = this.calls.readOrRefuse(context, answer, () => readObject(parseProviderResult(answer), 'body'));
    return isList ? readArray(json['data'], 'body.data').filter(isObject) : [json];
  }
}
