import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../errors/gateway.error.js';
import { ChunkList } from './chunk-list.js';

/** The connection ended before the whole request had come: there is nobody left to answer. */
export class RequestAbortedError extends Error {
  constructor() {
    super('the client closed the connection before the request was complete');
    this.name = 'RequestAbortedError';
  }
}

/** The body is larger than it may be. */
export class BodyTooLargeError extends GatewayError {
  constructor(
    limitBytes: number,
    /** How much of it had come by then. */
    readonly readBytes: number,
  ) {
    super('payload_too_large', { message: `The request body is larger than ${limitBytes} bytes.` });
  }
}

/** How much more than the limit is read and thrown away before a client is cut off. */
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;

/**
 * Reads a whole request body. One that is too large is read to its end as well, but thrown away: a client that is answered
 * and cut off while it still sends finds a broken connection instead of the answer.
 * @throws BodyTooLargeError after the end, or as soon as it is clear that the end is too far away
 * @throws RequestAbortedError when the client leaves first
 */
export async function readBody(
  request: IncomingMessage,
  limitBytes: number,
  maxDiscardedBytes = MAX_DISCARDED_BYTES,
): Promise<Buffer> {
  // Gone before anybody listened: none of the events below would come any more.
  if (request.destroyed) throw new RequestAbortedError();
  const announcedBytes = Number(request.headers['content-length'] ?? 0);
  const mostBytes = limitBytes + maxDiscardedBytes;
  if (announcedBytes > mostBytes) throw new BodyTooLargeError(limitBytes, 0);
  return new Promise<Buffer>((done, fail) => {
    const chunks = new ChunkList();
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (Math.max(size, announcedBytes) <= limitBytes) chunks.push(chunk);
      else chunks.clear();
      if (size > mostBytes) fail(new BodyTooLargeError(limitBytes, size));
    });
    request.on('end', () => {
      if (size > limitBytes) return fail(new BodyTooLargeError(limitBytes, size));
      done(chunks.take());
    });
    request.on('error', () => fail(new RequestAbortedError()));
    request.on('close', () => {
      // An error is dear to make, and a request that has come whole closes as well.
      if (!request.complete) fail(new RequestAbortedError());
    });
  });
}
