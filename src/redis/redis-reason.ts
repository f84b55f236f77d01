import { isNativeError } from 'node:util/types';
import { errorCodeOf } from '../common/errors/describe-error.js';

/** The client and the rate limiter have no codes for these; their sentences are all there is. */
const SENTENCES = [
  [/^All sentinels are unreachable/, 'no sentinel names the primary'],
  [/No such master with that name/, 'a sentinel does not know the name'],
  // ioredis keeps the cause to itself. A refusal of the sentinel has a word of its own.
  [/^failed to connect to sentinel \S+ because (?![A-Z]{3,} )/, 'a sentinel cannot be reached'],
  [/timed out|^timeout$|^Socket timeout/, 'no answer in time'],
  [/not ready|isn't (?:ready|writeable)|is closed/, 'no connection'],
  // Others say so of a node that they no longer reach.
  [/^Too many Cluster redirections.*(?:MOVED|ASK) /, 'no connection to a node'],
  [/Failed to refresh slots/, 'no node of the cluster answers'],
] as const;

/** Of Redis, also at the last of the tries that a cluster had, or by a sentinel. */
const REFUSAL =
  /^(?:Too many Cluster redirections\. Last error: \w+: |failed to connect to sentinel \S+ because )?([A-Z]{3,})/;

/**
 * What is wrong with Redis, for the log: a code of the network (`ECONNREFUSED`), or the word with which Redis begins a
 * refusal and the command that it was for (`ERR (select)`). Messages may hold the address, and that a password.
 */
export function redisReason(cause: unknown): string {
  if (!isNativeError(cause)) return 'unknown';
  const { message } = cause;
  const known = SENTENCES.find(([sentence]) => sentence.test(message))?.[1];
  if (known !== undefined) return known;
  const word = errorCodeOf(cause) ?? REFUSAL.exec(message)?.[1] ?? cause.name;
  const command = commandOf(cause);
  return command === undefined ? word : `${word} (${command})`;
}

/** The name of the command that Redis refused, without its arguments. */
export function commandOf(cause: Error): string | undefined {
  if (!('command' in cause) || typeof cause.command !== 'object' || cause.command === null) return undefined;
  return 'name' in cause.command && typeof cause.command.name === 'string' ? cause.command.name : undefined;
}
