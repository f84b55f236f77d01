import { isNativeError } from 'node:util/types';

/** What went wrong, for the terminal of whoever runs the gateway: no stack, which only helps with defects. */
export function messageForOperator(error: unknown): string {
  if (!isNativeError(error)) return String(error);
  // Node tries every address of a host and then fails without a message of its own.
  if (error.message === '' && error instanceof AggregateError) return error.errors.map(messageForOperator).join('; ');
  return error.message;
}
