import type { Server, ServerResponse } from 'node:http';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppConfig } from './config/environment.js';
import { ReadinessService } from './health/readiness.service.js';
import { McpProxy } from './mcp/proxy/mcp-proxy.js';
import { flushLog, LOGGER, type Logger } from './telemetry/logger.js';

/** Stops once, on SIGTERM or SIGINT: no new connections, running requests finish within the grace time, everything closes. */
export function stopOnSignals(app: NestExpressApplication): void {
  const running = new RunningAnswers(app.getHttpServer());
  let stopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) return;
    stopping = true;
    void stopAndReport(app, running, signal).then((code) => process.exit(code));
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
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
    await app.close();
    return 0;
  } catch (error) {
    logger.error({ event: 'stop_failed', error: error instanceof Error ? error.stack : typeof error });
    return 1;
  } finally {
    await flushLog(logger);
  }
}

async function finishRequests(app: NestExpressApplication, running: RunningAnswers): Promise<void> {
  const server = app.getHttpServer();
  app.get(ReadinessService).startDraining();
  const finished = new Promise<void>((done) => server.close(() => done()));
  running.endConnections();
  // Streams have no end of their own; calls that run on them get the grace time.
  void app.get(McpProxy).close(app.get(AppConfig).SHUTDOWN_GRACE_MS);
  const cut = setTimeout(() => server.closeAllConnections(), app.get(AppConfig).SHUTDOWN_GRACE_MS);
  await finished;
  clearTimeout(cut);
}

interface RunningAnswer {
  readonly answer: ServerResponse;
  before: RunningAnswer | undefined;
  after: RunningAnswer | undefined;
}

/**
 * The answers under way, so that their connections can end with them. `server.close` ends the connections that are idle at
 * that moment; others would be kept alive after their answer, and hold up the end for the whole grace time.
 *
 * In a list of links and not in a Set: a Set gets a new table every few entries, and each table points to the one that came
 * after it. One that is dead but among V8's old objects would hold, through them, every answer since.
 */
class RunningAnswers {
  private first: RunningAnswer | undefined;
  private ending = false;

  constructor(server: Server) {
    server.prependListener('request', (_request, answer: ServerResponse) => {
      if (this.ending) return endConnectionAfter(answer);
      const running = this.add(answer);
      answer.once('close', () => this.remove(running));
    });
  }

  /** From now on every connection ends with its answer. */
  endConnections(): void {
    this.ending = true;
    for (let running = this.first; running !== undefined; running = running.after) endConnectionAfter(running.answer);
  }

  private add(answer: ServerResponse): RunningAnswer {
    const running: RunningAnswer = { answer, before: undefined, after: this.first };
    if (this.first !== undefined) this.first.before = running;
    this.first = running;
    return running;
  }

  private remove(running: RunningAnswer): void {
    const { before, after } = running;
    if (before === undefined) this.first = after;
    else before.after = after;
    if (after !== undefined) after.before = before;
    running.before = undefined;
    running.after = undefined;
  }
}

function endConnectionAfter(answer: ServerResponse): void {
  const { socket } = answer;
  if (answer.headersSent) answer.once('finish', () => socket?.end());
  else answer.setHeader('connection', 'close');
}
