import { pino } from 'pino';

/** Bytes that are gathered before a write; a timer in the telemetry module writes what is left. */
const BUFFER_BYTES = 32 * 1024;
const MAX_WRITE_BYTES = 2 * BUFFER_BYTES;
/** A reader of the log that stalls costs lines above this, never the gateway's memory. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** A log that cannot be written may hold up the end of the process this long. */
export const FLUSH_MS = 1_000;
/** Whoever has not read for so long will not read at the end either. */
const STALLED_MS = FLUSH_MS / 2;

type Destination = ReturnType<typeof pino.destination>;
type Flushed = (error?: Error) => unknown;

/** Writes to a file descriptor or a file, off the path of requests. A log that cannot be written harms nothing but itself. */
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
  // Of lines that wait as text, the whole text is counted anew with each further line.
  const write = destination.write.bind(destination);
  destination.write = (line: string) => Boolean(Reflect.apply(write, undefined, [Buffer.from(line)]));
  const hasFailed = watchFailures(destination);
  const isStalled = oneFlushAtATime(destination);
  const flushSync = destination.flushSync.bind(destination);
  // Pino's exit hook calls it. By itself it tries for ever, and the process would have to be killed.
  destination.flushSync = () => {
    if (hasFailed() || isStalled()) return;
    givenUpAt = performance.now() + FLUSH_MS;
    try {
      flushSync();
    } catch {
      // Nobody reads.
    } finally {
      givenUpAt = Number.POSITIVE_INFINITY;
    }
  };
  return destination;
}

/** Tells whether the last write failed, for a full disk, for example: without a listener that would end the process. */
function watchFailures(destination: Destination): () => boolean {
  let hasFailed = false;
  destination.on('error', () => (hasFailed = true));
  destination.on('write', () => (hasFailed = false));
  return () => hasFailed;
}

/**
 * While the reader stalls, each flush would wait with listeners of its own.
 * @returns tells whether one has been waiting for long
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
