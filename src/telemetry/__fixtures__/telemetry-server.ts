import type { Server } from 'node:http';
import { PassThrough } from 'node:stream';
import express, { type Express } from 'express';
import { rawExchange } from '../../../test/support/raw-exchange.js';
import { contextMiddleware } from '../context.middleware.js';
import { createLogger } from '../logger.js';
import { Metrics } from '../metrics.js';
import { NoTracing, type Tracing } from '../tracing.js';

export interface TelemetryServer {
  readonly url: string;
  readonly metrics: Metrics;
  /** Everything logged so far, once there are as many lines as asked for. */
  lines(count: number): Promise<readonly Record<string, unknown>[]>;
  /** Sends bytes as they are, and resolves with all that came back until the server closed the connection. */
  raw(text: string): Promise<string>;
  close(): Promise<void>;
}

/** The middleware before the routes that a test adds, on loopback. */
export async function startTelemetryServer(
  addRoutes: (app: Express) => void,
  tracing: Tracing = new NoTracing(),
): Promise<TelemetryServer> {
  const log = new PassThrough();
  const logged: string[] = [];
  log.on('data', (line) => logged.push(String(line)));
  const metrics = new Metrics();
  const app = express();
  // Otherwise Express prints the errors that tests provoke.
  app.set('env', 'test');
  app.use(contextMiddleware(createLogger('debug', log), metrics, tracing));
  addRoutes(app);
  const server = await new Promise<Server>((done) => {
    const started: Server = app.listen(0, '127.0.0.1', () => done(started));
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    metrics,
    lines: async (count) => {
      while (logged.length < count) await new Promise((done) => setTimeout(done, 5));
      return logged.map((line): Record<string, unknown> => JSON.parse(line));
    },
    raw: (text) => rawExchange(port, text),
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
