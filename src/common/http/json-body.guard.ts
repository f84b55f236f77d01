import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { readBody } from './read-body.js';
import { assertJsonBody, parseJsonBody } from './parse-json-body.js';
import { STREAMED_BODY } from './streamed-body.decorator.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** The bytes of a JSON body, for operations that pass them on unchanged. */
    rawBody?: Buffer;
  }
}

const METHODS_WITHOUT_BODY = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Reads the JSON body of a request into `request.body`. A guard and not a middleware, so that it runs after the guard
 * that knows the caller: nobody without a key can make the gateway hold a body in memory.
 */
export class JsonBodyGuard implements CanActivate {
  constructor(
    private readonly limitBytes: number,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    if (METHODS_WITHOUT_BODY.has(request.method) || !hasBody(request)) return true;
    if (this.reflector.get<boolean | undefined>(STREAMED_BODY, context.getHandler()) === true) return true;
    assertJsonBody(request.headers);
    request.rawBody = await readBody(request, this.limitBytes);
    request.body = parseJsonBody(request.rawBody);
    return true;
  }
}

/** RFC 9112, section 6.3: a request has a body when one of these headers says so. */
function hasBody(request: Request): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
}
