import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody, RequestAbortedError } from './read-body.js';

/** All of it is thrown away. */
const LIMITS = { maxBytes: 0, maxDiscardedBytes: 64 * 1024 * 1024, silenceMs: 1_000, totalMs: 60_000 };

/**
 * Before an answer that ends the connection, reads to its end a body that nobody has asked for, and throws it away: a client that is
 * cut off while it sends finds a broken connection instead of the answer. Where the connection goes on, Node does so itself.
 * @param answer called once: at the end, after 64 MiB or a minute, or when nothing comes for a second; at once when more than that was
 *   announced; not when the client leaves
 */
export function afterBody(request: IncomingMessage, response: ServerResponse, answer: () => void): void {
  const isUnread = !request.complete && !request.destroyed && request.readableFlowing === null;
  // A gateway that ends says so on its answers.
  const goesOn = response.shouldKeepAlive && response.getHeader('connection') !== 'close';
  if (!isUnread || goesOn) answer();
  else void discardBody(request).then((isThere) => isThere && !response.headersSent && answer());
}

/** Whether the client is still there. */
async function discardBody(request: IncomingMessage): Promise<boolean> {
  try {
    await readBody(request, LIMITS);
  } catch (error) {
    // Too large, or too late: it has been waited for.
    return !(error instanceof RequestAbortedError);
  }
  return true;
}

/** For what a stream that is ended had still to say. */
const LAST_READ_MS = 10_000;

/** Ends an answer that may not go on. A client that reads nothing more would keep its connection, which no limit counts any longer. */
export function endInTime(response: ServerResponse, lastBytes = ''): void {
  response.end(lastBytes);
  const cut = setTimeout(() => response.destroy(), LAST_READ_MS).unref();
  response.once('close', () => clearTimeout(cut));
}
