import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import { doneWithin } from '../common/time/done-within.js';

/** Injection token of the process's pino logger. */
export const LOGGER = Symbol('LOGGER');
export type Logger = PinoLogger;

const STDOUT = 1;
/** Bytes that are gathered before a write; a timer in the telemetry module writes what is left. */
const BUFFER_BYTES = 32 * 1024;
const MAX_WRITE_BYTES = 2 * BUFFER_BYTES;
/** A reader of the log that stalls costs lines above this, never the gateway's memory. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** A log that cannot be written may hold up the end of the process this long. */
const FLUSH_MS = 1_000;

export function createLogger(level: string, stream: DestinationStream = logDestination(STDOUT)): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: isoTimes(),
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
}

/** As `pino.stdTimeFunctions.isoTime`; within a millisecond the text stays the same. */
function isoTimes(): () => string {
  let last = Number.NaN;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== last) text = `,"time":"${new Date(now).toISOString()}"`;
    last = now;
    return text;
  };
}

/** Writes to a file descriptor or a file, off the path of requests. */
export function logDestination(dest: number | string): ReturnType<typeof pino.destination> {
  const destination = pino.destination({
    dest,
    sync: false,
    minLength: BUFFER_BYTES,
    maxWrite: MAX_WRITE_BYTES,
    maxLength: MAX_WAITING_BYTES,
    contentMode: 'buffer',
  });
  // Of lines that wait as text, the whole text is counted anew with each further line.
  const write = destination.write.bind(destination);
  destination.write = (line: string) => Boolean(Reflect.apply(write, undefined, [Buffer.from(line)]));
  // Without a listener, a log that cannot be written (a full disk) would end the process.
  destination.on('error', () => undefined);
  return destination;
}

/**
 * Resolves when no write is under way any more. To be awaited before the process ends itself: pino's own exit hook
 * writes what is in the buffer, but it cannot wait for a write that is under way.
 */
export async function flushLog(logger: Logger): Promise<void> {
  await doneWithin(FLUSH_MS, new Promise<void>((done) => logger.flush(() => done())));
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
