import { EventEmitter } from 'node:events';
import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import { isoTexts } from '../common/time/clock.js';
import { settledWithin } from '../common/time/timeout.js';
import { FLUSH_MS, logDestination } from './log-destination.js';

/** Injection token of the process's pino logger. */
export const LOGGER = Symbol('LOGGER');
export type Logger = PinoLogger;

const STDOUT = 1;

export function createLogger(level: string, stream: DestinationStream = logDestination(STDOUT)): Logger {
  const logger = pino(
    {
      level,
      base: null,
      timestamp: isoTimes(),
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
  if (stream instanceof EventEmitter) reportDropped(logger, stream);
  return logger;
}

/** @param members the members after level and time, at least one */
export type LineWriter = (level: 'debug' | 'info' | 'error', members: object) => void;

/** Writes the same lines as pino, to its stream and by its level, in two thirds of the time. Used once per request. */
export function lineWriter(logger: Logger): LineWriter {
  const stream: DestinationStream = Reflect.get(logger, pino.symbols.streamSym);
  const isoText = isoTexts();
  return (level, members) => {
    if (logger.isLevelEnabled(level))
      stream.write(`{"level":"${level}","time":"${isoText(Date.now())}",${JSON.stringify(members).slice(1)}\n`);
  };
}

/** Logs how many lines were dropped, as soon as the log can be written again. */
function reportDropped(logger: Logger, destination: EventEmitter): void {
  let lines = 0;
  destination.on('drop', () => (lines += 1));
  destination.on('drain', () => {
    const lost = lines;
    lines = 0;
    if (lost > 0) logger.warn({ event: 'log_lines_dropped', lines: lost });
  });
}

/** Same format as `pino.stdTimeFunctions.isoTime`. */
function isoTimes(): () => string {
  const isoText = isoTexts();
  return () => `,"time":"${isoText(Date.now())}"`;
}

/**
 * Resolves when no write is in progress. Await it before the process exits: pino's exit hook writes the buffer, but
 * cannot wait for a write in progress.
 */
export async function flushLog(logger: Logger): Promise<void> {
  await settledWithin(FLUSH_MS, new Promise<void>((done) => logger.flush(() => done())));
}

/** Logs Nest's messages in the gateway's format: routine lines at debug level, warnings and errors at their own. */
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

  error(message: unknown, stack?: unknown, context?: unknown): void {
    this.logger.error({ event: 'framework', context, stack: textOf(stack) }, String(message));
  }

  fatal(message: unknown, stack?: unknown, context?: unknown): void {
    this.logger.fatal({ event: 'framework', context, stack: textOf(stack) }, String(message));
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
