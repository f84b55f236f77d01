import { type LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';

/** Injection token of the process's pino logger. */
export const LOGGER = Symbol('LOGGER');
export type Logger = PinoLogger;

/** Bytes that are gathered before a write; a timer in the log module writes what is left. */
const BUFFER_BYTES = 4096;

export function createLogger(level: string, stream?: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream ?? pino.destination({ sync: false, minLength: BUFFER_BYTES }),
  );
}

/** Nest's own messages, in the same form: its routine lines at debug level, its warnings and errors as they are. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, context?: unknown): void {
    this.logger.debug({ event: 'framework', context }, String(message));
  }

  debug(message: unknown, context?: unknown): void {
    this.logger.trace({ event: 'framework', context }, String(message));
  }

  verbose(message: unknown, context?: unknown): void {
    this.logger.trace({ event: 'framework', context }, String(message));
  }

  warn(message: unknown, context?: unknown): void {
    this.logger.warn({ event: 'framework', context }, String(message));
  }

  error(message: unknown, stack?: unknown): void {
    this.logger.error({ event: 'framework', stack: typeof stack === 'string' ? stack : undefined }, String(message));
  }
}
