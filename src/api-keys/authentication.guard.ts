import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { assertScope } from '../access/assert-scope.js';
import { OWN_AUTHENTICATION } from '../access/own-authentication.decorator.js';
import { PUBLIC_ROUTE } from '../access/public.decorator.js';
import { REQUIRED_SCOPE } from '../access/require-scope.decorator.js';
import type { Scope } from '../access/scopes.js';
import { Clock } from '../common/time/clock.js';
import { Authenticator, type Caller } from './authenticator.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** Set by the authentication guard on every route that is not public. */
    caller?: Caller;
  }
}

/** Global guard: finds out who calls, and refuses callers without the scope of the route. Deny by default. */
@Injectable()
export class AuthenticationGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly authenticator: Authenticator,
    private readonly clock: Clock,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const targets = [context.getHandler(), context.getClass()];
    if (this.reflector.getAllAndOverride<string | undefined>(PUBLIC_ROUTE, targets) !== undefined) return true;
    if (this.reflector.get<string | undefined>(OWN_AUTHENTICATION, context.getHandler()) !== undefined) return true;
    const scope = this.reflector.get<Scope | undefined>(REQUIRED_SCOPE, context.getHandler());
    if (scope === undefined) throw new Error('a route without a scope was started');
    const request = context.switchToHttp().getRequest<Request>();
    const caller = await this.authenticator.authenticate(request, this.clock.now());
    assertScope(caller, scope);
    request.caller = caller;
    return true;
  }
}
