import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { describeDefect } from '../common/errors/describe-error.js';
import { isLongAnswer } from '../common/http/long-answers.js';
import { RunningAnswers } from './running-answers.js';
import { settledWithin } from '../common/time/timeout.js';
import { AppConfig } from '../config/environment.js';
import { ReadinessService } from '../health/readiness.service.js';
import { McpProxy } from '../mcp/proxy/mcp-proxy.js';
import { flushLog, LOGGER, type Logger } from '../telemetry/logger.js';

const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/** Shells report a process that a signal ended with this offset. */
const SIGNAL_EXIT = 128;
/** A signal that comes sooner is the same: the terminal sends it to every process, and npm passes it on. */
const REPEAT_MS = 1_000;
/** Limit for closing, after delay and grace time. Without calls of models, all three stay below the 30 s that platforms allow. */
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
 * the grace time, and closes everything. A second signal ends the requests.
 */
export function stopOnSignals(app: NestExpressApplication): void {
  const server = app.getHttpServer();
  const running = new RunningAnswers(server);
  let stoppedAt: number | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    if (stoppedAt !== undefined) {
      if (performance.now() - stoppedAt > REPEAT_MS) server.closeAllConnections();
      return;
    }
    stoppedAt = performance.now();
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
  const { SHUTDOWN_DELAY_MS: delayMs, SHUTDOWN_GRACE_MS: graceMs, SHUTDOWN_INFERENCE_GRACE_MS } = app.get(AppConfig);
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
  const cutMost = setTimeout(() => running.cutAllBut(isLongAnswer), graceMs);
  const cutAll = setTimeout(() => server.closeAllConnections(), Math.max(graceMs, SHUTDOWN_INFERENCE_GRACE_MS));
  await finished;
  clearTimeout(cutMost);
  clearTimeout(cutAll);
}
