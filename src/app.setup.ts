import type { NestExpressApplication } from '@nestjs/platform-express';
import { DataSource } from 'typeorm';
import { assertRoutesDeclared } from './access/assert-routes-declared.js';
import { AppErrorFilter } from './server/error.filter.js';
import type { LinkedExpressAdapter } from './server/linked-express.adapter.js';
import { poolCounts } from './database/tollgate-data-source.js';
import { setUpOpenApi } from './openapi/openapi.js';
import { contextMiddleware } from './telemetry/context.middleware.js';
import { LOGGER, NestLogger, type Logger } from './telemetry/logger.js';
import { setUpConsole } from './server/console.js';
import { RequestLogRecorder } from './request-logs/request-log.recorder.js';
import { setUpConnectionLimits } from './server/connection-limits.js';
import { setUpCors } from './server/cors.js';
import { malformedRequestLog } from './server/malformed-request.js';
import { Metrics } from './telemetry/metrics.js';
import { StoreFailures } from './telemetry/store-failures.js';
import { Tracing } from './telemetry/tracing.js';
import { UpstreamClient } from './upstream/upstream-client.js';

/** Everything about the application that is not a module: shared by the start and by the tests. */
export function setUpApp(app: NestExpressApplication, adapter: LinkedExpressAdapter): void {
  const logger = app.get<Logger>(LOGGER);
  app.useLogger(new NestLogger(logger));
  const metrics = app.get(Metrics);
  const dataSource = app.get(DataSource);
  metrics.databaseCounts = () => poolCounts(dataSource);
  const upstream = app.get(UpstreamClient);
  metrics.upstreamCounts = () => ({ ...upstream.counts() });
  adapter.noteMalformed = malformedRequestLog(logger, metrics);
  const { add: noteRequest } = app.get(RequestLogRecorder, { strict: false });
  app.use(contextMiddleware(logger, metrics, app.get(Tracing), noteRequest));
  setUpConnectionLimits(app, logger, metrics);
  setUpCors(app, adapter);
  app.useGlobalFilters(new AppErrorFilter(adapter, logger, app.get(StoreFailures)));
  setUpOpenApi(app);
  setUpConsole(app);
  assertRoutesDeclared(app);
}
