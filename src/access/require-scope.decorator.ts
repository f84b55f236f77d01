import { SetMetadata } from '@nestjs/common';
import type { Scope } from './scopes.js';

export const REQUIRED_SCOPE = 'tollgate:required-scope';

/** The permission that a route needs. A route with neither this nor `@Public()` does not start. */
export const RequireScope = (scope: Scope): MethodDecorator => SetMetadata(REQUIRED_SCOPE, scope);
