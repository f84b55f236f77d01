import { Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { AppConfig } from '../config/environment.js';
import { createLogger, flushLog, LOGGER, type Logger } from './logger.js';
import { MetricsController } from './metrics.controller.js';
import { Metrics } from './metrics.js';
import { StoreFailures } from './store-failures.js';
import { NoTracing, Tracing } from './tracing.js';

/** Lines wait at most this long in the log's buffer. */
const LOG_FLUSH_MS = 1_000;

@Global()
@Module({
  controllers: [MetricsController],
  providers: [
    Metrics,
    {
      provide: LOGGER,
      inject: [AppConfig],
      useFactory: (config: AppConfig): Logger => createLogger(config.LOG_LEVEL),
    },
    StoreFailures,
    { provide: Tracing, inject: [AppConfig, LOGGER], useFactory: createTracing },
  ],
  exports: [Metrics, LOGGER, StoreFailures, Tracing],
})
export class TelemetryModule implements OnApplicationShutdown {
  private readonly timer: NodeJS.Timeout;

  constructor(
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly tracing: Tracing,
  ) {
    this.timer = setInterval(() => this.logger.flush(), LOG_FLUSH_MS).unref();
  }

  /** After the server has closed, so every request has ended its span and written its line. */
  async onApplicationShutdown(): Promise<void> {
    await this.tracing.close();
    clearInterval(this.timer);
    await flushLog(this.logger);
  }
}

async function createTracing(config: AppConfig, logger: Logger): Promise<Tracing> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SERVICE_NAME: serviceName } = config;
  if (endpoint === undefined) return new NoTracing();
  const { OpenTelemetryTracing } = await import('./open-telemetry.js');
  return new OpenTelemetryTracing({ endpoint, serviceName }, logger);
}
