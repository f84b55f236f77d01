import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import { type MaybePromise, chain } from '../common/maybe-promise.js';
import {
  OCTETS_BODY,
  READ_MEMBERS,
  requestOf,
  RouteMetadataCache,
  STREAMED_BODY,
} from '../common/http/execution-context.js';
import { readMembers } from '../common/json/members.js';
import { withoutByteOrderMark } from '../common/json/read.js';
import { decodeBody } from '../common/http/decode-body.js';
import { type BodyLimits, readBody } from '../common/http/read-body.js';
import { assertJsonBody, type JsonTypes, parseJsonBody } from '../common/http/parse-json-body.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** The bytes of a JSON body, for operations that forward them unchanged. */
    rawBody?: Buffer;
    /** The body as it came, where it came compressed. */
    encodedBody?: EncodedBody;
  }
}

/** A compressed JSON body. */
export interface EncodedBody {
  readonly bytes: Buffer;
  /** The header `content-encoding`. */
  readonly coding: string;
  /** What it decodes to. */
  readonly json: Buffer;
}

/** How a route wants its body. */
interface BodyForm {
  readonly isStreamed: boolean;
  readonly members: ReadonlySet<string> | undefined;
  readonly types: JsonTypes;
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
      types: reflector.get<boolean | undefined>(OCTETS_BODY, route.getHandler()) === true ? 'octets' : 'suffixed',
    }));
  }

  canActivate(context: ExecutionContext): MaybePromise<boolean> {
    const request = requestOf(context);
    const { method, headers } = request;
    // RFC 9112, section 6.3: a request has a body when one of these headers says so.
    const inChunks = headers['transfer-encoding'] !== undefined;
    const hasBody = inChunks || Number(headers['content-length'] ?? 0) > 0;
    if (METHODS_WITHOUT_BODY.has(method) || !hasBody) return true;
    const { isStreamed, members, types } = this.forms.of(context);
    if (isStreamed) return true;
    const isForwarded = members !== undefined;
    const announced = inChunks ? undefined : assertJsonBody(headers, types, isForwarded);
    const limits = isForwarded ? this.forwardedLimits : this.limits;
    return chain(readBody(request, limits), (body) => {
      // A chunked body may be empty, which is known only at its end.
      if (inChunks && body.length === 0) return true;
      const codings = announced ?? assertJsonBody(headers, types, isForwarded);
      if (codings.length === 0) return take(body);
      return decodeBody(body, codings, limits.maxBytes).then((decoded) => {
        take(decoded);
        request.encodedBody = { bytes: body, coding: codings.join(', '), json: decoded };
        return true;
      });
    });

    function take(body: Buffer): true {
      const json = withoutByteOrderMark(body);
      request.rawBody = json;
      request.body = members === undefined ? parseJsonBody(json) : readMembers(json, members);
      return true;
    }
  }
}
