import { format } from 'node:util';
import { describeDefect } from '../common/errors/describe-error.js';

type OperatorLevel = 'info' | 'warn' | 'error' | 'fatal';

const MAX_MESSAGE = 2_000;

/**
 * Writes what the log cannot say: it is not there yet, or the process ends. In production one JSON line like those of the
 * log, since programs read it; else the plain message.
 */
export function tellOperator(level: OperatorLevel, event: string, message: string): void {
  if (isProduction()) writeJson(level, event, { message });
  else process.stderr.write(`${message}\n`);
}

/**
 * In production, makes JSON lines of what Node and libraries print by themselves: warnings, `console`, and an error that
 * nothing caught, which ends the process. Call it after the environment is complete.
 */
export function printOnlyJson(): void {
  if (!isProduction()) return;
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => tellOperator('warn', 'warning', cut(`${name}: ${message}`)));
  process.on('uncaughtException', (error) => {
    // Without its message, which may quote a caller's data.
    writeJson('fatal', 'crashed', describeDefect(error));
    process.exit(1);
  });
  const levels = { debug: 'info', log: 'info', info: 'info', trace: 'info', warn: 'warn', error: 'error' } as const;
  for (const [method, level] of Object.entries(levels)) {
    Reflect.set(console, method, (...words: readonly unknown[]) =>
      tellOperator(level, 'console', cut(format(...words))),
    );
  }
}

function isProduction(): boolean {
  return process.env['NODE_ENV'] === 'production';
}

function writeJson(level: OperatorLevel, event: string, members: object): void {
  process.stderr.write(`${JSON.stringify({ level, time: new Date().toISOString(), event, ...members })}\n`);
}

function cut(text: string): string {
  return text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text;
}
