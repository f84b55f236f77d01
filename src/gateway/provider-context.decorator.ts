import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Principal } from '../access/principal.js';
import { invalidField } from '../common/errors/gateway.error.js';
import { gatewayHeader } from '../common/http/gateway-headers.js';
import { contextOf, type RequestContext } from '../telemetry/request-context.js';
import type { UsableVirtualKey } from '../virtual-keys/virtual-key.cache.js';
import type { AnswerHead } from './answer-head.js';
import type { ModelNames } from './virtual-key.guard.js';

/** The request of an operation at a provider, without its parsed body. */
export interface ProviderContext {
  readonly principal: Principal;
  readonly virtualKey: UsableVirtualKey;
  readonly modelNames: ModelNames | undefined;
  /** `x-gateway-strict: true`: refuses options that the provider lacks, instead of leaving them out. */
  readonly strict: boolean;
  /** The bytes of a JSON body as the client sent them. */
  readonly bytes: Buffer | undefined;
  /** The client's connection, the trace, and the fields of the log line. */
  readonly request: RequestContext;
  /** For headers that a step adds to the answer, and to see whether the answer has begun. */
  readonly answer: AnswerHead;
  /** Headers that name the client's project at the provider, for further calls that the gateway makes. */
  readonly account?: Readonly<Record<string, string>>;
  /**
   * The shared deadline of calls that make up one answer, on the clock of `performance.now()`. Default: the timeout of
   * the credential, for each call.
   */
  readonly deadlineMs?: number;
}

/** The model whose prices and bounds apply, for the provider's own name of a model or deployment. */
export function pricedModel({ modelNames, virtualKey }: ProviderContext, model: string): string {
  return modelNames?.route?.target.baseModel ?? virtualKey.credential.options.base_model ?? model;
}

/** The name of the model on price lists. */
export function listedModel(context: ProviderContext, model: string): string {
  const { provider, credential } = context.virtualKey;
  const known = pricedModel(context, model);
  return provider.listedModel?.(known, credential.options) ?? known;
}

export const CurrentProvider = createParamDecorator((_data: unknown, context: ExecutionContext): ProviderContext => {
  const http = context.switchToHttp();
  return providerContextOf(http.getRequest<Request>(), http.getResponse<Response>());
});

/**
 * Returns the context without a decorator, because Nest runs a decorator's value through all pipes, with a promise
 * each.
 */
export function providerContextOf(request: Request, answer: Response): ProviderContext {
  const { principal, virtualKey, modelNames, headers } = request;
  if (principal === undefined || virtualKey === undefined) throw new Error('the route lacks @ProviderRoute()');
  const strict = gatewayHeader(headers, 'strict')?.toLowerCase() ?? 'false';
  // Refused, since the client would not notice that its check is not made.
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
