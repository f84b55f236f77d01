import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { describeDefect } from '../common/errors/describe-error.js';
import { RunningAnswers } from './running-answers.js';
import { doneWithin } from '../common/time/done-within.js';
import { AppConfig } from '../config/environment.js';
import { ReadinessService } from '../health/readiness.service.js';
import { McpProxy } from '../mcp/proxy/mcp-proxy.js';
import { flushLog, LOGGER, type Logger } from '../telemetry/logger.js';

const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/** As shells tell of a process that a signal has ended. */
const SIGNAL_EXIT = 128;
/** For closing, after delay and grace time: with their defaults, all are below the 30 s that platforms give. */
const CLOSE_MS = 15_000;

/**
 * Ends a start that a signal comes into. The first process of a container would not hear it otherwise.
 * @returns to be called when the start is over
 */
export function endOnSignals(): () => void {
  const end = (signal: NodeJS.Signals): void => process.exit(SIGNAL_EXIT + constants.signals[signal]);
  for (const signal of STOP_SIGNALS) process.on(signal, end);
  return () => {
    for (const signal of STOP_SIGNALS) process.off(signal, end);
  };
}

/**
 * Stops once, on SIGTERM or SIGINT: not ready any more, then no new connections, running requests finish within the grace time,
 * everything closes.
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

/** The exit code. */
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
 * What is not closed by then waits for a database that hangs, and would be killed with the rest of its container.
 * @throws Error when it is not closed in time, or what closing fails with
 */
export async function closeInTime(app: Pick<NestExpressApplication, 'close'>, limitMs = CLOSE_MS): Promise<void> {
  const closing = app.close();
  const ended = closing.catch(() => undefined);
  if (!(await doneWithin(limitMs, ended))) throw new Error(`not closed within ${limitMs} ms`);
  await closing;
}

async function finishRequests(app: NestExpressApplication, running: RunningAnswers): Promise<void> {
  const server = app.getHttpServer();
  const { SHUTDOWN_DELAY_MS: delayMs, SHUTDOWN_GRACE_MS: graceMs } = app.get(AppConfig);
  app.get(ReadinessService).startDraining();
  // A client that keeps its connections would not leave before they are cut, perhaps with a request on its way.
  running.endWithAnswers();
  if (delayMs > 0) await sleep(delayMs);
  const finished = new Promise<void>((done) => server.close(() => done()));
  running.endUnused();
  // Streams have no end of their own; calls that run on them get the grace time.
  // Its module asks again, and tells of a failure.
  const proxyClosing = app.get(McpProxy).close(graceMs);
  proxyClosing.catch(() => undefined);
  const cut = setTimeout(() => server.closeAllConnections(), graceMs);
  await finished;
  clearTimeout(cut);
}
