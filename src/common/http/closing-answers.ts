import type { IncomingMessage, ServerResponse } from 'node:http';
import { awaitsContinue } from './expect-continue.js';
import { readBody, RequestAbortedError } from './read-body.js';

/** The whole body is discarded. */
const LIMITS = { maxBytes: 0, maxDiscardedBytes: 64 * 1024 * 1024, silenceMs: 1_000, totalMs: 60_000 };

/**
 * Reads and discards an unread body before a response that closes the connection. A client that is cut off while it
 * sends would see a broken connection instead of the response. On connections that stay open, Node does this itself.
 * @param answer called once: at the end of the body, after 64 MiB or a minute, or after a second of silence;
 * immediately when a larger body was announced; never when the client disconnects
 */
export function afterBody(request: IncomingMessage, response: ServerResponse, answer: () => void): void {
  const isUnread = !request.complete && !request.destroyed && request.readableFlowing === null;
  // A gateway that shuts down sets this header on its responses.
  const goesOn = response.shouldKeepAlive && response.getHeader('connection') !== 'close';
  // Node closes the connection of a client that still waits to be asked for its body.
  if (!isUnread || goesOn || awaitsContinue(request)) answer();
  else void discardBody(request).then((isThere) => isThere && !response.headersSent && answer());
}

/** Whether the client is still there. */
async function discardBody(request: IncomingMessage): Promise<boolean> {
  try {
    await readBody(request, LIMITS);
  } catch (error) {
    // Too large or too slow: the wait is over, the client is still connected.
    return !(error instanceof RequestAbortedError);
  }
  return true;
}

/** Time for the client to read the last bytes of a stream. */
const LAST_READ_MS = 10_000;

/**
 * Ends a response early and destroys it after 10 s. A client that stops reading would keep its connection open, and no
 * limit counts it any longer.
 */
export function endInTime(response: ServerResponse): void {
  response.end();
  destroyInTime(response);
}

/**
 * Breaks a response off after its last bytes, or 10 s later when the client does not read them: one that ends properly would look
 * whole.
 */
export function breakOffAfter(response: ServerResponse, lastBytes: string | Buffer): void {
  response.write(lastBytes, () => response.destroy());
  destroyInTime(response);
}

function destroyInTime(response: ServerResponse): void {
  const cut = setTimeout(() => response.destroy(), LAST_READ_MS).unref();
  response.once('close', () => clearTimeout(cut));
}
