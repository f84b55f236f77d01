import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';
import { setUpApp } from './app.setup.js';
import { wrapError } from './common/errors/describe-error.js';
import { LinkedExpressAdapter } from './server/linked-express.adapter.js';
import { AppConfig } from './config/environment.js';
import { isDatabaseUnavailable, explainDatabaseFailure } from './database/database-errors.js';
import { listenForMetrics } from './server/metrics-server.js';
import { servesConsole } from './server/console.js';
import { endOnSignals, stopOnSignals } from './server/shutdown.js';
import { readDatabaseFacts, startReport } from './start-report.js';
import { flushLog, LOGGER, type Logger } from './telemetry/logger.js';

/**
 * Resolves when the gateway listens.
 * @throws Error whose message is for the operator
 */
export async function start(): Promise<void> {
  const started = endOnSignals();
  const adapter = new LinkedExpressAdapter();
  const app = await NestFactory.create<NestExpressApplication>(AppModule, adapter, {
    bodyParser: false,
    // Until the gateway's own logger is there: Nest would print what goes wrong once more, with a stack.
    logger: false,
    abortOnError: false,
  });
  const config = app.get(AppConfig);
  const logger = app.get<Logger>(LOGGER);
  logger.info(startReport(config, await readDatabaseFacts(app)));
  // Before anything else is printed.
  await flushLog(logger);
  setUpApp(app, adapter);
  await app.init().catch((cause: unknown) => {
    const isOfServer = config.DATABASE_URL !== undefined && isDatabaseUnavailable(cause);
    throw isOfServer ? explainDatabaseFailure(cause) : cause;
  });
  await app.listen(config.PORT, config.listenHost).catch((cause: unknown) => {
    throw wrapError('The gateway cannot listen on HOST and PORT', cause);
  });
  await listenForMetrics(app).catch((cause: unknown) => {
    throw wrapError('The gateway cannot listen on HOST and METRICS_PORT', cause);
  });
  started();
  stopOnSignals(app);
  const url = await app.getUrl();
  // Production has a log that programs read, and no other lines.
  if (config.NODE_ENV === 'production') logger.info({ event: 'listening', url });
  else
    process.stdout.write(
      `Tollgate listens on ${url}\n${servesConsole(config) ? `Open ${url}/console in a browser.\n` : ''}`,
    );
}
