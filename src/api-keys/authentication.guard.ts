import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import {
  ANY_CALLER,
  REQUIRED_SCOPE,
  API_KEY_ONLY,
  OWN_AUTHENTICATION,
  PUBLIC_ROUTE,
} from '../access/route-access.decorators.js';
import { type Scope, assertScope } from '../access/scopes.js';
import { type MaybePromise, chain } from '../common/maybe-promise.js';
import { requestOf, type Route, RouteMetadataCache } from '../common/http/execution-context.js';
import { Clock } from '../common/time/clock.js';
import { contextOf } from '../telemetry/request-context.js';
import { Authenticator, type Caller } from './authenticator.js';
import { keyInvalid } from './credentials.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** Set by the authentication guard on every route that is not public. */
    caller?: Caller;
    /** The caller on routes for every caller, which have no tenant. */
    anyCaller?: Caller;
  }
}

/**
 * `open`: the route needs no caller. `any`: it needs a caller, with or without scopes. `own`: it authenticates callers itself, and
 * chooses the form of its refusals.
 */
type Entrance = 'open' | 'own' | 'any' | { readonly scope: Scope; readonly isForKeysOnly: boolean };

/** Global guard: finds out who calls, and refuses callers without the scope of the route. Deny by default. */
@Injectable()
export class AuthenticationGuard implements CanActivate {
  private readonly entrances: RouteMetadataCache<Entrance>;

  constructor(
    reflector: Reflector,
    private readonly authenticator: Authenticator,
    private readonly clock: Clock,
  ) {
    this.entrances = new RouteMetadataCache((route) => entranceOf(route, reflector));
  }

  canActivate(context: ExecutionContext): MaybePromise<boolean> {
    const entrance = this.entrances.of(context);
    if (entrance === 'own') return true;
    const request = requestOf(context);
    contextOf(request).assertTraceable();
    if (entrance === 'open') return true;
    return chain(this.authenticator.authenticate(request, this.clock.now()), (caller) => {
      if (entrance === 'any') {
        request.anyCaller = caller;
        return true;
      }
      if (entrance.isForKeysOnly && caller.kind !== 'api_key') throw keyInvalid('missing');
      assertScope(caller, entrance.scope);
      request.caller = caller;
      return true;
    });
  }
}

function entranceOf(route: Route, reflector: Reflector): Entrance {
  const handler = route.getHandler();
  const isPublic = reflector.getAllAndOverride<string | undefined>(PUBLIC_ROUTE, [handler, route.getClass()]);
  if (isPublic !== undefined) return 'open';
  const hasOwn = reflector.get<string | undefined>(OWN_AUTHENTICATION, handler);
  if (hasOwn !== undefined) return 'own';
  if (reflector.get<string | undefined>(ANY_CALLER, handler) !== undefined) return 'any';
  const scope = reflector.get<Scope | undefined>(REQUIRED_SCOPE, handler);
  if (scope === undefined) throw new Error('a route without a scope was started');
  return { scope, isForKeysOnly: reflector.get<boolean | undefined>(API_KEY_ONLY, handler) === true };
}

/** The caller of a route that any caller may use. Throws on other routes, which is a defect. */
export function callerOf({ anyCaller }: Request): Caller {
  if (anyCaller === undefined) throw new Error('the route is not declared for any caller');
  return anyCaller;
}
