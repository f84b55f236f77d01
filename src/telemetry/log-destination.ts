import { pino } from 'pino';

/** Bytes that are buffered before a write. A timer in the telemetry module flushes the rest. */
const BUFFER_BYTES = 32 * 1024;
const MAX_WRITE_BYTES = 2 * BUFFER_BYTES;
/** When the reader of the log stalls, lines beyond this are dropped, so that memory stays bounded. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** The longest time that a blocked log may delay the end of the process. */
export const FLUSH_MS = 1_000;
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
