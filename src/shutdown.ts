import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppConfig } from './config/environment.js';
import { ReadinessService } from './health/readiness.service.js';
import { LOGGER, type Logger } from './telemetry/logger.js';

/** Stops once, on SIGTERM or SIGINT: no new connections, running requests finish within the grace time, everything closes. */
export function stopOnSignals(app: NestExpressApplication): void {
  let stopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) return;
    stopping = true;
    stopGracefully(app, signal).then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
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
