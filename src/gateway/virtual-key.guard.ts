import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { type MaybePromise, chain } from '../common/maybe-promise.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { gatewayHeader } from '../common/http/gateway-headers.js';
import { requestOf } from '../common/http/execution-context.js';
import { Clock } from '../common/time/clock.js';
import { contextOf } from '../telemetry/request-context.js';
import { type UsableVirtualKey, VirtualKeyCache } from '../virtual-keys/virtual-key.cache.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** Set by the virtual key guard on provider-style routes. */
    virtualKey?: UsableVirtualKey;
  }
}

/** Finds the virtual key that a provider-style request names. Runs after the global guards, which know the caller. */
@Injectable()
export class VirtualKeyGuard implements CanActivate {
  constructor(
    private readonly virtualKeys: VirtualKeyCache,
    private readonly clock: Clock,
  ) {}

  canActivate(context: ExecutionContext): MaybePromise<boolean> {
    const request = requestOf(context);
    const slug = gatewayHeader(request.headers, 'virtual-key');
    if (slug === undefined) throw new GatewayError('virtual_key_required', { param: 'x-gateway-virtual-key' });
    const { principal } = request;
    if (principal === undefined) throw new Error('the virtual key guard ran before the caller was known');
    return chain(this.virtualKeys.find(principal, slug, this.clock.now().getTime()), (found) => {
      if (found === undefined) throw new GatewayError('virtual_key_not_found', { param: 'x-gateway-virtual-key' });
      request.virtualKey = found;
      const known = contextOf(request);
      known.facts.virtual_key = found.slug;
      known.facts.provider = found.provider.slug;
      known.noteUse(found);
      return true;
    });
  }
}
