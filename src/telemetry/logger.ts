import { EventEmitter } from 'node:events';
import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import { isoTexts } from '../common/time/clock.js';
import { settledWithin } from '../common/time/timeout.js';

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

/** Bytes that are buffered before a write. A timer in the telemetry module flushes the rest. */
const BUFFER_BYTES = 32 * 1024;
const MAX_WRITE_BYTES = 2 * BUFFER_BYTES;
/** When the reader of the log stalls, lines beyond this are dropped, so that memory stays bounded. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** The longest time that a blocked log may delay the end of the process. */
const FLUSH_MS = 1_000;
/** A reader that has been silent for this long is not waited for at the end. */
const STALLED_MS = FLUSH_MS / 2;

type Destination = ReturnType<typeof pino.destination>;
type Flushed = (error?: Error) => unknown;

/** Writes to a file descriptor or a file, asynchronously. A blocked or failing log does not affect requests. */
export function logDestination(dest: number | string): Destination {
  let givenUpAt = Number.POSITIVE_INFINITY;
  const destination = pino.destination({
    dest,
    sync: false,
    minLength: BUFFER_BYTES,
    maxWrite: MAX_WRITE_BYTES,
    maxLength: MAX_WAITING_BYTES,
    contentMode: 'buffer',
    retryEAGAIN: () => performance.now() < givenUpAt,
  });
  // Buffers instead of text: pino measures all waiting text again with each line.
  const write = destination.write.bind(destination);
  destination.write = (line: string) => Boolean(Reflect.apply(write, undefined, [Buffer.from(line)]));
  const hasFailed = watchFailures(destination);
  const isStalled = oneFlushAtATime(destination);
  const flushSync = destination.flushSync.bind(destination);
  // Pino's exit hook calls this. Without a limit it retries forever, and the process would have to be killed.
  destination.flushSync = () => {
    if (hasFailed() || isStalled()) return;
    givenUpAt = performance.now() + FLUSH_MS;
    try {
      flushSync();
    } catch {
      // The log has no reader.
    } finally {
      givenUpAt = Number.POSITIVE_INFINITY;
    }
  };
  return destination;
}

/**
 * Returns whether the last write failed, for example on a full disk. Without a listener, the error would end the
 * process.
 */
function watchFailures(destination: Destination): () => boolean {
  let hasFailed = false;
  destination.on('error', () => (hasFailed = true));
  destination.on('write', () => (hasFailed = false));
  return () => hasFailed;
}

/**
 * Joins concurrent flushes, since each would add its own listeners while the reader stalls.
 * @returns whether a flush has been waiting for long
 */
function oneFlushAtATime(destination: Destination): () => boolean {
  const waiting: Flushed[] = [];
  let since = 0;
  const flush = destination.flush.bind(destination);
  destination.flush = (done: Flushed = () => undefined) => {
    if (waiting.push(done) > 1) return;
    since = performance.now();
    flush((error) => {
      for (const flushed of waiting.splice(0)) flushed(error);
    });
  };
  destination.on('write', () => (since = performance.now()));
  return () => waiting.length > 0 && performance.now() - since >= STALLED_MS;
}
