import { isNativeError } from 'node:util/types';

/** The `code` of an error of Node or of a driver. Unlike `instanceof Error`, this also knows errors of other realms. */
export function errorCodeOf(error: unknown): string | undefined {
  return isNativeError(error) && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

const MAX_FRAMES = 12;

/**
 * For the log: name, code (PostgreSQL's or Node's) and stack. Leaves the message out, since it may quote the caller's
 * data.
 */
export function describeDefect(cause: unknown): object {
  if (!isNativeError(cause)) return { name: typeof cause };
  const frames = cause.stack?.split('\n').filter((line) => line.startsWith('    at ')) ?? [];
  return { name: cause.name, code: errorCodeOf(cause), stack: frames.slice(0, MAX_FRAMES) };
}

/** The message of an error, for the operator's terminal. Without a stack, which helps only with defects. */
export function messageForOperator(error: unknown): string {
  if (!isNativeError(error)) return String(error);
  // Node tries every address of a host and then fails without a message of its own.
  if (error.message === '' && error instanceof AggregateError) return error.errors.map(messageForOperator).join('; ');
  return error.message;
}

/** An error for the operator's terminal. The message begins with its subject, for example the name of a setting. */
export function wrapError(problem: string, cause: unknown): Error {
  return new Error(`${problem}: ${messageForOperator(cause)}`, { cause });
}
