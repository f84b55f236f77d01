import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import { type MaybePromise, chain } from '../common/maybe-promise.js';
import { requestOf, RouteMetadataCache, STREAMED_BODY } from '../common/http/execution-context.js';
import { withoutByteOrderMark } from '../common/json/read.js';
import { type BodyLimits, readBody } from '../common/http/read-body.js';
import { assertJsonBody, parseJsonBody } from '../common/http/parse-json-body.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** The bytes of a JSON body, for operations that forward them unchanged. */
    rawBody?: Buffer;
  }
}

const METHODS_WITHOUT_BODY = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Reads the JSON body of a request into `request.body`. A guard and not a middleware, so that it runs after
 * authentication: callers without a key cannot make the gateway hold a body in memory.
 */
export class JsonBodyGuard implements CanActivate {
  private readonly streamed: RouteMetadataCache<boolean>;

  constructor(
    private readonly limits: BodyLimits,
    reflector: Reflector,
  ) {
    this.streamed = new RouteMetadataCache(
      (route) => reflector.get<boolean | undefined>(STREAMED_BODY, route.getHandler()) === true,
    );
  }

  canActivate(context: ExecutionContext): MaybePromise<boolean> {
    const request = requestOf(context);
    const { method, headers } = request;
    // RFC 9112, section 6.3: a request has a body when one of these headers says so.
    const inChunks = headers['transfer-encoding'] !== undefined;
    const hasBody = inChunks || Number(headers['content-length'] ?? 0) > 0;
    if (METHODS_WITHOUT_BODY.has(method) || !hasBody || this.streamed.of(context)) return true;
    if (!inChunks) assertJsonBody(headers, 'suffixed');
    return chain(readBody(request, this.limits), (body) => {
      // A chunked body may be empty, which is known only at its end.
      if (inChunks) {
        if (body.length === 0) return true;
        assertJsonBody(headers, 'suffixed');
      }
      const json = withoutByteOrderMark(body);
      request.rawBody = json;
      request.body = parseJsonBody(json);
      return true;
    });
  }
}
