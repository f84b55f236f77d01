import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { ALWAYS_PRESENT, type CallerPresence } from '../common/http/caller-presence.js';
import { gatewayHeader } from '../common/http/gateway-headers.js';
import { currentContext } from '../telemetry/request-context.js';
import type { UsableVirtualKey } from '../virtual-keys/virtual-key.cache.js';

/** What a provider-style operation knows of its request besides the body. */
export interface ProviderContext {
  readonly virtualKey: UsableVirtualKey;
  /** `x-gateway-strict: true`: options that the provider lacks are refused instead of left out. */
  readonly strict: boolean;
  readonly caller: CallerPresence;
}

export const CurrentProvider = createParamDecorator((_data: unknown, context: ExecutionContext): ProviderContext => {
  const { virtualKey, headers } = context.switchToHttp().getRequest<Request>();
  if (virtualKey === undefined) throw new Error('the route lacks @ProviderRoute()');
  return {
    virtualKey,
    strict: gatewayHeader(headers, 'strict') === 'true',
    caller: currentContext()?.caller ?? ALWAYS_PRESENT,
  };
});
