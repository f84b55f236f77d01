import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import { type MaybePromise, chain } from '../common/maybe-promise.js';
import { READ_MEMBERS, requestOf, RouteMetadataCache, STREAMED_BODY } from '../common/http/execution-context.js';
import { readMembers } from '../common/json/members.js';
import { withoutByteOrderMark } from '../common/json/read.js';
import { type BodyLimits, readBody } from '../common/http/read-body.js';
import { assertJsonBody, parseJsonBody } from '../common/http/parse-json-body.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** The bytes of a JSON body, for operations that forward them unchanged. */
    rawBody?: Buffer;
  }
}

/** How a route wants its body. */
interface BodyForm {
  readonly isStreamed: boolean;
  readonly members: ReadonlySet<string> | undefined;
}

const METHODS_WITHOUT_BODY = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Reads the JSON body of a request into `request.body`. A guard and not a middleware, so that it runs after
 * authentication: callers without a key cannot make the gateway hold a body in memory.
 */
export class JsonBodyGuard implements CanActivate {
  private readonly forms: RouteMetadataCache<BodyForm>;
  private readonly forwardedLimits: BodyLimits;

  /** @param maxForwardedBytes of a body that is forwarded without being parsed; by default, that of every other */
  constructor(
    private readonly limits: BodyLimits,
    reflector: Reflector,
    maxForwardedBytes = limits.maxBytes,
  ) {
    this.forwardedLimits = { ...limits, maxBytes: maxForwardedBytes };
    this.forms = new RouteMetadataCache((route) => ({
      isStreamed: reflector.get<boolean | undefined>(STREAMED_BODY, route.getHandler()) === true,
      members: reflector.get<ReadonlySet<string> | undefined>(READ_MEMBERS, route.getHandler()),
    }));
  }

  canActivate(context: ExecutionContext): MaybePromise<boolean> {
    const request = requestOf(context);
    const { method, headers } = request;
    // RFC 9112, section 6.3: a request has a body when one of these headers says so.
    const inChunks = headers['transfer-encoding'] !== undefined;
    const hasBody = inChunks || Number(headers['content-length'] ?? 0) > 0;
    if (METHODS_WITHOUT_BODY.has(method) || !hasBody) return true;
    const { isStreamed, members } = this.forms.of(context);
    if (isStreamed) return true;
    if (!inChunks) assertJsonBody(headers, 'suffixed');
    const limits = members === undefined ? this.limits : this.forwardedLimits;
    return chain(readBody(request, limits), (body) => {
      // A chunked body may be empty, which is known only at its end.
      if (inChunks) {
        if (body.length === 0) return true;
        assertJsonBody(headers, 'suffixed');
      }
      const json = withoutByteOrderMark(body);
      request.rawBody = json;
      request.body = members === undefined ? parseJsonBody(json) : readMembers(json, members);
      return true;
    });
  }
}
