import type { IncomingMessage } from 'node:http';
import type { MaybePromise } from '../maybe-promise.js';
import { GatewayError, type GatewayErrorOptions } from '../errors/gateway.error.js';
import { BodyBuffer } from './body-buffer.js';
import { type BodyPace, BodyTimer } from './body-timer.js';

/** The connection ended before the request was complete, so there is no client to answer. */
export class RequestAbortedError extends Error {
  constructor() {
    super('the client closed the connection before the request was complete');
    this.name = 'RequestAbortedError';
  }
}

/** The body exceeds its size or time limit. */
export class BodyRefusedError extends GatewayError {
  constructor(
    code: 'payload_too_large' | 'request_timeout',
    /** How many bytes had arrived. */
    readonly readBytes: number,
    options: GatewayErrorOptions,
  ) {
    super(code, options);
  }
}

export interface BodyLimits extends Required<Pick<BodyPace, 'silenceMs' | 'totalMs'>> {
  readonly maxBytes: number;
  /** How many bytes beyond `maxBytes` are read and discarded before the client is cut off; default 64 MiB. */
  readonly maxDiscardedBytes?: number;
}

const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;

const EMPTY = Buffer.alloc(0);

/**
 * Reads a whole request body, synchronously if it has already arrived, as most small bodies have. A body that is too
 * large is read to its end and discarded: a client that is cut off while it sends would see a broken connection instead
 * of the response. A body that does not arrive in time is abandoned.
 * @throws BodyRefusedError `payload_too_large` at the end of the body, or as soon as it exceeds what may be discarded;
 * `request_timeout`, which ends the connection
 * @throws RequestAbortedError when the client disconnects first
 */
export function readBody(request: IncomingMessage, limits: BodyLimits): MaybePromise<Buffer> {
  const { complete, destroyed, readableFlowing, readableLength } = request;
  const isUnread = complete && !destroyed && readableFlowing === null;
  return isUnread && readableLength <= limits.maxBytes ? (request.read() ?? EMPTY) : gatherBody(request, limits);
}

async function gatherBody(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  // Destroyed before the listeners below were added: they would never be called.
  if (request.destroyed) throw new RequestAbortedError();
  const { maxBytes, totalMs, silenceMs, maxDiscardedBytes = MAX_DISCARDED_BYTES } = limits;
  const announcedBytes = Number(request.headers['content-length'] ?? 0);
  const mostBytes = maxBytes + maxDiscardedBytes;
  if (announcedBytes > mostBytes) throw tooLarge(maxBytes, 0);
  return new Promise<Buffer>((done, fail) => {
    const chunks = new BodyBuffer();
    let size = 0;
    let timer: BodyTimer | undefined;
    const refuse = (error: BodyRefusedError): void => {
      timer?.stop();
      // Drop the data that still arrives.
      request.off('data', onData);
      chunks.clear();
      fail(error);
    };
    const onData = (chunk: Buffer): void => {
      timer?.moved(chunk.length);
      size += chunk.length;
      if (Math.max(size, announcedBytes) <= maxBytes) chunks.push(chunk);
      else chunks.clear();
      if (size > mostBytes) refuse(tooLarge(maxBytes, size));
    };
    request.on('data', onData);
    // A body that ends in the same turn needs no timer.
    setImmediate(() => {
      if (request.complete || request.destroyed) return;
      timer = new BodyTimer({ silenceMs, totalMs }, () => refuse(lateBody(size)));
    });
    request.on('end', () => {
      timer?.stop();
      if (size > maxBytes) return fail(tooLarge(maxBytes, size));
      done(chunks.take());
    });
    request.on('error', () => fail(new RequestAbortedError()));
    request.on('close', () => {
      timer?.stop();
      // Complete requests also emit `close`, and creating an error is expensive.
      if (!request.complete) fail(new RequestAbortedError());
    });
  });
}

function tooLarge(maxBytes: number, readBytes: number): BodyRefusedError {
  const message = `The request body is larger than ${maxBytes} bytes.`;
  return new BodyRefusedError('payload_too_large', readBytes, { message });
}

/** The refusal of a body that does not arrive in time. After half a body, the connection cannot carry another request. */
export function lateBody(readBytes: number): BodyRefusedError {
  return new BodyRefusedError('request_timeout', readBytes, {
    message: 'The request body did not arrive in time.',
    headers: { connection: 'close' },
  });
}
