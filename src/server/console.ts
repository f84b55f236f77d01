import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Express, NextFunction, Request, Response } from 'express';
import { GatewayError } from '../common/errors/gateway.error.js';
import { AppConfig } from '../config/environment.js';

/** Where `npm run build` puts the page: from the sources, and from the built gateway. */
const FOLDERS = ['../../console/dist/', '../../../console/dist/'];
const PAGE = 'index.html';
/** At the page and at everything below it. Routes and no middleware, which each request of the gateway would pass. */
const PATHS = ['/console', '/console/*path'];
/** Files with a digest in their name, and the icon. Every other address is one of the page itself. */
const FILE = /^\/console\/(assets\/[\w-]+\.(?:js|css)|favicon\.svg)$/;
const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};
const YEAR_SECONDS = 31_536_000;
const HOUR_SECONDS = 3_600;

/** The page loads its own files and calls its own gateway, nothing else, and is shown in no frame. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** The folder of the built console; undefined where it was not built. */
function consoleFolder(): string | undefined {
  return FOLDERS.map((folder) => fileURLToPath(new URL(folder, import.meta.url))).find((folder) =>
    existsSync(`${folder}${PAGE}`),
  );
}

export function servesConsole({ CONSOLE }: Pick<AppConfig, 'CONSOLE'>): boolean {
  return CONSOLE === 'on' && consoleFolder() !== undefined;
}

/** Serves the console where there is one. Call it before the routes of controllers are added. */
export function setUpConsole(app: NestExpressApplication): void {
  const folder = consoleFolder();
  if (folder !== undefined && servesConsole(app.get(AppConfig))) addConsole(app.getHttpAdapter().getInstance(), folder);
}

/** Serves the page at /console, and sends browsers there that ask for `/`. */
export function addConsole(express: Express, folder: string): void {
  for (const path of PATHS) express.get(path, serve(folder));
  express.get('/', (request, response, next) => {
    if (request.accepts(['json', 'html']) === 'html') response.redirect('/console');
    else next();
  });
}

function serve(folder: string) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const file = FILE.exec(request.path)?.[1];
    response.set(HEADERS);
    if (file === undefined) {
      response.set('cache-control', 'no-cache');
      return sendFile(response, folder, PAGE, next);
    }
    const isHashed = file.startsWith('assets/');
    response.set('cache-control', isHashed ? `public, max-age=${YEAR_SECONDS}, immutable` : `max-age=${HOUR_SECONDS}`);
    response.set('content-type', TYPES[file.split('.').at(-1) ?? ''] ?? 'application/octet-stream');
    const isZipped = isHashed && request.acceptsEncodings('gzip') === 'gzip';
    if (isHashed) response.vary('accept-encoding');
    if (isZipped) response.set('content-encoding', 'gzip');
    sendFile(response, folder, isZipped ? `${file}.gz` : file, next);
  };
}

/** A file of an older build is missing: the usual answer, without what only fits the file. */
function sendFile(response: Response, root: string, file: string, next: NextFunction): void {
  response.sendFile(file, { root, cacheControl: false }, (error) => {
    if (error === undefined || response.headersSent) return;
    for (const header of ['cache-control', 'content-type', 'content-encoding']) response.removeHeader(header);
    next(new GatewayError('not_found', { cause: error }));
  });
}
