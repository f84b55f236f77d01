import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Express, NextFunction, Request, RequestHandler, Response } from 'express';
import { Authenticator } from '../api-keys/authenticator.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { Clock } from '../common/time/clock.js';
import { AppConfig } from '../config/environment.js';

/** At the page and at everything below it. Two routes and no middleware, which each request of the gateway would pass. */
const PATHS = ['/docs', '/docs/*file'] as const;
const BASIC = /^basic +([a-z0-9+/]+={0,2})$/i;

/** Puts the documentation behind a key or on METRICS_PORT, where DOCS says so. Call it before its routes are added. */
export function guardDocs(app: NestExpressApplication): void {
  const gate = gateFor(app);
  const express: Express = app.getHttpAdapter().getInstance();
  if (gate !== undefined) for (const path of PATHS) express.get(path, gate);
}

function gateFor(app: NestExpressApplication): RequestHandler | undefined {
  const { DOCS, METRICS_PORT: port } = app.get(AppConfig);
  if (DOCS === 'metrics_port') {
    return ({ socket }, _response, next) =>
      next(socket.localPort === port ? undefined : new GatewayError('not_found', { message: NOTHING }));
  }
  if (DOCS !== 'key') return undefined;
  const [authenticator, clock] = [app.get(Authenticator, { strict: false }), app.get(Clock)];
  return (request: Request, _response: Response, next: NextFunction) => {
    assertKey(request, authenticator, clock.now()).then(() => next(), next);
  };
}

const NOTHING = 'There is nothing at this address.';

/** Any valid key or administrator's token. Browsers ask their user for a password, which is the key. */
async function assertKey(request: Request, authenticator: Authenticator, now: Date): Promise<void> {
  const [, encoded] = BASIC.exec(request.headers.authorization ?? '') ?? [];
  try {
    if (encoded === undefined) return void (await authenticator.authenticate(request, now));
    const text = Buffer.from(encoded, 'base64').toString();
    await authenticator.ownerOf(text.slice(text.indexOf(':') + 1), now);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.status !== 401) throw error;
    throw error.withHeaders({ 'www-authenticate': 'Basic realm="tollgate"' });
  }
}
