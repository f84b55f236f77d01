import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../errors/gateway.error.js';

/** The connection ended before the whole request had come: there is nobody left to answer. */
export class RequestAbortedError extends Error {
  constructor() {
    super('the client closed the connection before the request was complete');
    this.name = 'RequestAbortedError';
  }
}

/**
 * Reads a whole request body. One that is too large is read to its end as well, but thrown away: a client that is cut off
 * while it still sends would find a broken connection instead of the answer.
 * @throws GatewayError `payload_too_large` as soon as more than `limitBytes` are announced or have come
 * @throws RequestAbortedError when the client leaves first
 */
export async function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  // Node itself throws away what nobody has begun to read.
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes);
  return new Promise<Buffer>((done, fail) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limitBytes) return void chunks.push(chunk);
      chunks.length = 0;
      fail(tooLarge(limitBytes));
    });
    request.on('end', () => {
      const [first] = chunks;
      done(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks));
    });
    request.on('error', () => fail(new RequestAbortedError()));
    request.on('close', () => fail(new RequestAbortedError()));
  });
}

function tooLarge(limitBytes: number): GatewayError {
  return new GatewayError('payload_too_large', { message: `The request body is larger than ${limitBytes} bytes.` });
}
