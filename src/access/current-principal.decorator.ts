import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { requestOf } from '../common/http/execution-context.js';
import type { Principal } from './principal.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** Set by the authentication guard on every route that is not public. */
    principal?: Principal;
    /** Set with the principal. */
    traceId?: string;
  }
}

/** The authenticated caller, as a parameter of a route: with the trace of the request. */
export const CurrentPrincipal = createParamDecorator((_data: unknown, context: ExecutionContext): Principal => {
  const request = requestOf(context);
  const { principal, traceId } = request;
  if (principal === undefined) throw new Error('a public route asked for the caller');
  return {
    ...principal,
    traceId,
    // Only the audit log asks for it: working it out costs more than the rest.
    get clientAddress() {
      return request.ip;
    },
  };
});
