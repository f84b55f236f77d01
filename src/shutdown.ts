import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppConfig } from './config/environment.js';
import { ReadinessService } from './health/readiness.service.js';
import { flushLog, LOGGER, type Logger } from './telemetry/logger.js';

/** Stops once, on SIGTERM or SIGINT: no new connections, running requests finish within the grace time, everything closes. */
export function stopOnSignals(app: NestExpressApplication): void {
  let stopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) return;
    stopping = true;
    void stopAndReport(app, signal).then((code) => process.exit(code));
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

/** The exit code. */
async function stopAndReport(app: NestExpressApplication, signal: NodeJS.Signals): Promise<number> {
  const logger = app.get<Logger>(LOGGER);
  try {
    await stopGracefully(app, signal);
    return 0;
  } catch (error) {
    logger.error({ event: 'stop_failed', error: error instanceof Error ? error.stack : typeof error });
    return 1;
  } finally {
    await flushLog(logger);
  }
}

async function stopGracefully(app: NestExpressApplication, signal: NodeJS.Signals): Promise<void> {
  const config = app.get(AppConfig);
  const server = app.getHttpServer();
  app.get<Logger>(LOGGER).info({ event: 'stopping', signal });
  app.get(ReadinessService).startDraining();
  const finished = new Promise<void>((done) => server.close(() => done()));
  const cut = setTimeout(() => server.closeAllConnections(), config.SHUTDOWN_GRACE_MS);
  await finished;
  clearTimeout(cut);
  await app.close();
}
