import { createServer, type Server } from 'node:http';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Express } from 'express';
import { toErrorEnvelope } from '../common/errors/error-envelope.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { unreadBodies } from '../common/http/unread-body.js';
import { AppConfig } from '../config/environment.js';

const METRICS = /^\/(?:metrics|health\/(?:live|ready))\/?(?:\?|$)/i;
const METRICS_AND_DOCS = /^\/(?:metrics|health\/(?:live|ready)|docs(?:\/[\w.-]*)*)\/?(?:\?|$)/i;
/** Scrapers, probes and a few people who read. */
const MAX_CONNECTIONS = 100;

/**
 * Listens on METRICS_PORT, where there is one, for metrics and probes alone, and for the API's documentation when DOCS
 * says so. The application answers; its routes know by the port what they may show.
 */
export async function listenForMetrics(app: NestExpressApplication): Promise<Server | undefined> {
  const { METRICS_PORT: port, listenHost, DOCS } = app.get(AppConfig);
  if (port === undefined) return undefined;
  const handle: Express = app.getHttpAdapter().getInstance();
  const offered = DOCS === 'metrics_port' ? METRICS_AND_DOCS : METRICS;
  const server = createServer((request, response) => {
    unreadBodies.follow(request, response);
    if (offered.test(request.url ?? '')) return void handle(request, response);
    const error = new GatewayError('not_found', { message: 'There is nothing at this address.' });
    response.writeHead(error.status, { 'content-type': 'application/json; charset=utf-8', connection: 'close' });
    response.end(JSON.stringify(toErrorEnvelope(error)));
  });
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((listening, fail) => server.once('error', fail).listen(port, listenHost, listening));
  return server;
}
