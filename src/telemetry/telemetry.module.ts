import { Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { AppConfig } from '../config/environment.js';
import { createLogger, LOGGER, type Logger } from './logger.js';
import { MetricsController } from './metrics.controller.js';
import { Metrics } from './metrics.js';

/** Lines wait at most this long in the log's buffer. */
const LOG_FLUSH_MS = 1_000;

@Global()
@Module({
  controllers: [MetricsController],
  providers: [
    Metrics,
    { provide: LOGGER, inject: [AppConfig], useFactory: (config: AppConfig): Logger => createLogger(config.LOG_LEVEL) },
  ],
  exports: [Metrics, LOGGER],
})
export class TelemetryModule implements OnApplicationShutdown {
  private readonly timer: NodeJS.Timeout;

  constructor(@Inject(LOGGER) private readonly logger: Logger) {
    this.timer = setInterval(() => this.logger.flush(), LOG_FLUSH_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
    this.logger.flush();
  }
}
