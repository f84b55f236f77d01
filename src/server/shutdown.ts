import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { describeDefect } from '../common/errors/describe-error.js';
import { RunningAnswers } from './running-answers.js';
import { settledWithin } from '../common/time/timeout.js';
import { AppConfig } from '../config/environment.js';
import { ReadinessService } from '../health/readiness.service.js';
import { McpProxy } from '../mcp/proxy/mcp-proxy.js';
import { flushLog, LOGGER, type Logger } from '../telemetry/logger.js';

const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/** Shells report a process that a signal ended with this offset. */
const SIGNAL_EXIT = 128;
/**
 * Limit for closing, after delay and grace time. With the defaults, all three stay below the 30 s that platforms allow.
 */
const CLOSE_MS = 15_000;

/**
 * Ends the process when a signal arrives during the start. The first process of a container would ignore it otherwise.
 * @returns a function to call when the start is over
 */
export function endOnSignals(): () => void {
  const end = (signal: NodeJS.Signals): void => process.exit(SIGNAL_EXIT + constants.signals[signal]);
  for (const signal of STOP_SIGNALS) process.on(signal, end);
  return () => {
    for (const signal of STOP_SIGNALS) process.off(signal, end);
  };
}

/**
 * Stops once, on SIGTERM or SIGINT: reports not ready, refuses new connections, lets requests in flight finish within
 * the grace time, and closes everything.
 */
export function stopOnSignals(app: NestExpressApplication): void {
  const running = new RunningAnswers(app.getHttpServer());
  let stopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) return;
    stopping = true;
    void stopAndReport(app, running, signal).then((code) => process.exit(code));
  };
  for (const signal of STOP_SIGNALS) process.on(signal, stop);
}

/** Returns the exit code. */
async function stopAndReport(
  app: NestExpressApplication,
  running: RunningAnswers,
  signal: NodeJS.Signals,
): Promise<number> {
  const logger = app.get<Logger>(LOGGER);
  try {
    logger.info({ event: 'stopping', signal });
    await finishRequests(app, running);
    await closeInTime(app);
    return 0;
  } catch (error) {
    logger.error({ event: 'stop_failed', error: describeDefect(error) });
    return 1;
  } finally {
    await flushLog(logger);
  }
}

/**
 * Closes the application within a time limit. A database that hangs would otherwise block until the container is
 * killed.
 * @throws Error when closing takes too long, or the error of closing
 */
export async function closeInTime(app: Pick<NestExpressApplication, 'close'>, limitMs = CLOSE_MS): Promise<void> {
  const closing = app.close();
  if (!(await settledWithin(limitMs, closing))) throw new Error(`not closed within ${limitMs} ms`);
  await closing;
}

async function finishRequests(app: NestExpressApplication, running: RunningAnswers): Promise<void> {
  const server = app.getHttpServer();
  const { SHUTDOWN_DELAY_MS: delayMs, SHUTDOWN_GRACE_MS: graceMs } = app.get(AppConfig);
  app.get(ReadinessService).startDraining();
  // Otherwise clients would keep their connections until they are cut, perhaps in the middle of a request.
  running.endWithAnswers();
  if (delayMs > 0) await sleep(delayMs);
  const finished = new Promise<void>((done) => server.close(() => done()));
  running.endUnused();
  // Streams do not end by themselves; calls on them get the grace time. The module of the proxy closes it again and
  // reports a failure.
  const proxyClosing = app.get(McpProxy).close(graceMs);
  proxyClosing.catch(() => undefined);
  const cut = setTimeout(() => server.closeAllConnections(), graceMs);
  await finished;
  clearTimeout(cut);
}
