import { messageForOperator } from './operator-message.js';

/** An error for the terminal of whoever runs the gateway, which begins with what it is about: the name of a setting, say. */
export function wrapError(problem: string, cause: unknown): Error {
  return new Error(`${problem}: ${messageForOperator(cause)}`, { cause });
}
