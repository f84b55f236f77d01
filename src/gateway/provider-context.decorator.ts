import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Principal } from '../access/principal.js';
import { invalidField } from '../common/errors/gateway.error.js';
import { gatewayHeader } from '../common/http/gateway-headers.js';
import { contextOf, type RequestContext } from '../telemetry/request-context.js';
import type { UsableVirtualKey } from '../virtual-keys/virtual-key.cache.js';
import type { AnswerHead } from './answer-head.js';
import type { ModelNames } from './virtual-key.guard.js';

/** What a provider-style operation knows of its request besides the body. */
export interface ProviderContext {
  readonly principal: Principal;
  readonly virtualKey: UsableVirtualKey;
  readonly modelNames: ModelNames | undefined;
  /** `x-gateway-strict: true`: options that the provider lacks are refused instead of left out. */
  readonly strict: boolean;
  /** The JSON of the body as it came, when there is one. */
  readonly bytes: Buffer | undefined;
  /** Who waits for the answer, its trace, and the facts for its log line. */
  readonly request: RequestContext;
  /** For headers that a step on the way adds to the answer, and to know whether some of it is out. */
  readonly answer: AnswerHead;
  /** Headers for the gateway's own calls beside the request's: they name the same project at the provider. */
  readonly account?: Readonly<Record<string, string>>;
  /** By `performance.now()`, for calls that make up one answer; by default each has the timeout of its credential. */
  readonly deadlineMs?: number;
}

/** The model whose prices and bounds count, for one that the provider knows by this name. */
export function pricedModel({ modelNames, virtualKey }: ProviderContext, model: string): string {
  return modelNames?.route?.target.baseModel ?? virtualKey.credential.options.base_model ?? model;
}

/** Its name on price lists. */
export function listedModel(context: ProviderContext, model: string): string {
  const { provider, credential } = context.virtualKey;
  const known = pricedModel(context, model);
  return provider.listedModel?.(known, credential.options) ?? known;
}

export const CurrentProvider = createParamDecorator((_data: unknown, context: ExecutionContext): ProviderContext => {
  const http = context.switchToHttp();
  return providerContextOf(http.getRequest<Request>(), http.getResponse<Response>());
});

/** The context without the decorator: Nest takes the value of a decorator through all pipes, with a promise at every step. */
export function providerContextOf(request: Request, answer: Response): ProviderContext {
  const { principal, virtualKey, modelNames, headers } = request;
  if (principal === undefined || virtualKey === undefined) throw new Error('the route lacks @ProviderRoute()');
  const strict = gatewayHeader(headers, 'strict')?.toLowerCase() ?? 'false';
  // A client that asks for the check in another way would not notice that it is not made.
  if (strict !== 'true' && strict !== 'false') throw invalidField('x-gateway-strict', 'must be true or false');
  return {
    principal,
    virtualKey,
    modelNames,
    strict: strict === 'true',
    bytes: request.rawBody,
    request: contextOf(request),
    answer,
  };
}
