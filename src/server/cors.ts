import type { IncomingMessage } from 'node:http';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { RequestHandler, Response } from 'express';
import { declaredRoutes } from '../access/assert-routes-declared.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { AppConfig } from '../config/environment.js';
import type { LinkedExpressAdapter } from './linked-express.adapter.js';

/** Chromium keeps the answer to a preflight for no longer. */
const MAX_AGE_SECONDS = '7200';
/** SDKs send about fifteen. */
const MAX_HEADERS = 64;
const MAX_HEADER_LENGTH = 128;
/** A name of RFC 9110, since it is written into a header of ours. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;

/** Lets the pages of CORS_ORIGINS call providers through the gateway. Without any, no request passes here. */
export function setUpCors(app: NestExpressApplication, adapter: LinkedExpressAdapter): void {
  const { CORS_ORIGINS } = app.get(AppConfig);
  if (CORS_ORIGINS.length === 0) return;
  // Routes for keys alone: the rest of the API is for administrators, and takes cookies too.
  const forPages = new Set(
    declaredRoutes(app)
      .filter(({ isForKeysOnly }) => isForKeysOnly)
      .flatMap(({ addresses }) => addresses)
      .map(nameOf),
  );
  const methodsOf = (path: string): readonly string[] => {
    const found = adapter.routesAt(path).filter((route) => forPages.has(nameOf(route)));
    return [...new Set(found.map(({ method }) => method))].sort();
  };
  app.use(corsMiddleware(new Set(CORS_ORIGINS), methodsOf));
}

/**
 * Answers preflights before authentication, since browsers send no credentials with them. Never allows cookies: a page has to
 * bring a key.
 * @param methodsOf the methods that pages may use at a path
 */
function corsMiddleware(origins: ReadonlySet<string>, methodsOf: (path: string) => readonly string[]): RequestHandler {
  return (request, response, next) => {
    const { origin } = request.headers;
    if (origin === undefined) return next();
    const methods = methodsOf(request.path);
    if (methods.length === 0) return next();
    response.appendHeader('vary', 'Origin');
    const isAllowed = origins.has(origin);
    if (isAllowed) {
      response.setHeader('access-control-allow-origin', origin);
      // Without credentials, the star covers all headers.
      response.setHeader('access-control-expose-headers', '*');
    }
    if (request.method !== 'OPTIONS') return next();
    if (isAllowed) return answerPreflight(request, response, methods);
    const message = 'Pages of this origin may not call the gateway (CORS_ORIGINS).';
    next(new GatewayError('permission_denied', { message, reason: 'origin' }));
  };
}

function answerPreflight(request: IncomingMessage, response: Response, methods: readonly string[]): void {
  response.setHeader('access-control-allow-methods', methods.join(', '));
  const asked = askedFor(request.headers['access-control-request-headers']);
  // A literal star would not cover `Authorization`.
  if (asked.length > 0) response.setHeader('access-control-allow-headers', asked.join(', '));
  response.setHeader('access-control-max-age', MAX_AGE_SECONDS);
  response.appendHeader('vary', 'Access-Control-Request-Headers');
  response.statusCode = 204;
  response.end();
}

/** Each SDK has headers of its own, and the gateway passes on none that it does not know. */
function askedFor(requested = ''): readonly string[] {
  const names = requested.split(',', MAX_HEADERS).map((name) => name.trim().toLowerCase());
  return names.filter((name) => name.length <= MAX_HEADER_LENGTH && HEADER_NAME.test(name));
}

function nameOf({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path}`;
}
