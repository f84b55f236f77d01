import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { Principal } from './principal.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** Set by the authentication guard on every route that is not public. */
    principal?: Principal;
  }
}

/** The authenticated caller, as a parameter of a route. */
export const CurrentPrincipal = createParamDecorator((_data: unknown, context: ExecutionContext): Principal => {
  const { principal } = context.switchToHttp().getRequest<Request>();
  if (principal === undefined) throw new Error('a public route asked for the caller');
  return principal;
});
