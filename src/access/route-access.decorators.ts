import { SetMetadata } from '@nestjs/common';
import type { Scope } from './scopes.js';

export const REQUIRED_SCOPE = 'tollgate:required-scope';

/** The permission that a route needs. A route with neither this nor `@Public()` does not start. */
export const RequireScope = (scope: Scope): MethodDecorator => SetMetadata(REQUIRED_SCOPE, scope);

export const API_KEY_ONLY = 'tollgate:api-key-only';

/** The route is for API keys alone: what it does is put down to one. */
export const ApiKeyOnly = (): MethodDecorator => SetMetadata(API_KEY_ONLY, true);

export const OWN_AUTHENTICATION = 'tollgate:own-authentication';

/**
 * The route finds out itself who calls and whether it may: the scope that it declares holds, its handler checks it, and that the
 * request is traceable. For callers who can be more than a key or an administrator. `reason` names what checks it.
 */
export const OwnAuthentication = (reason: string): MethodDecorator => SetMetadata(OWN_AUTHENTICATION, reason);

export const PUBLIC_ROUTE = 'tollgate:public-route';

/** The route answers without a caller. `reason` says why that is right; a route without this and without a scope does not start. */
export const Public = (reason: string): MethodDecorator & ClassDecorator => SetMetadata(PUBLIC_ROUTE, reason);

export const ANY_CALLER = 'tollgate:any-caller';

/** The route is for every key and token, whatever its scopes are, and before its tenant is known. `reason` says why that is right. */
export const AnyCaller = (reason: string): MethodDecorator => SetMetadata(ANY_CALLER, reason);
