import type { IncomingMessage, ServerResponse } from 'node:http';
import { BodyTimer } from './body-timer.js';

const WAIT = { silenceMs: 1_000, totalMs: 60_000 };
const MAX_BYTES = 64 * 1024 * 1024;

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
  const isTooFar = Number(request.headers['content-length'] ?? 0) > MAX_BYTES;
  if (!isUnread || goesOn || isTooFar) return answer();
  let size = 0;
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    timer.stop();
    // What still comes is dropped.
    request.off('data', onData);
    if (!response.destroyed && !response.headersSent) answer();
  };
  const timer = new BodyTimer(WAIT, end);
  const onData = (chunk: Buffer): void => {
    timer.restart();
    size += chunk.length;
    if (size > MAX_BYTES) end();
  };
  request.on('data', onData).on('end', end).on('error', end).on('close', end);
}
