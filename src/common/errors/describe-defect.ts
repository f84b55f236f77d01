import { isNativeError } from 'node:util/types';
import { errorCodeOf } from './error-code-of.js';

const MAX_FRAMES = 12;

/** For the log: name, code (PostgreSQL's or Node's) and stack, not the message, which may quote what a caller sent. */
export function describeDefect(cause: unknown): object {
  if (!isNativeError(cause)) return { name: typeof cause };
  const frames = cause.stack?.split('\n').filter((line) => line.startsWith('    at ')) ?? [];
  return { name: cause.name, code: errorCodeOf(cause), stack: frames.slice(0, MAX_FRAMES) };
}
